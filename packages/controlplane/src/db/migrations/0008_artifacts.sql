-- One manifest for a fleet of several platforms, archives and signatures (A6, A11).

-- As its agent reported it at the last hello: `linux/amd64`.
alter table nodes add column platform varchar(41);

-- By platform; null: target_binary_url and target_binary_checksum are for every node.
alter table rollouts add column artifacts jsonb;
alter table rollouts add column target_artifact_signature jsonb;

-- The member that was taken out of the archive behind binary_url.
alter table node_config_state add column artifact_member text;
alter table rollout_nodes add column previous_artifact_member text;

-- What the attempt under way, or the last one, was given to install: the artifact for the node's platform.
alter table rollout_nodes add column target_artifact jsonb;
