-- What trust asks of a rollout at both moments, when it is created and before its first node: as its chain said at creation.

-- Somebody else than who created it must approve it before its first node.
alter table rollouts add column start_approval boolean not null default false;

-- Id of the minisign key that signed its manifest; null: none was demanded when it was created, or it has no manifest.
alter table rollouts add column manifest_key varchar(16) check (manifest_key ~ '^[0-9A-F]{16}$');
