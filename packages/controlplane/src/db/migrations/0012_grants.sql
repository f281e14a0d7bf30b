-- Who may do what, granted by the backend; two persons for a breaking migration; what people did to keys, nodes and grants.

-- A JWT's subject gets its scopes from here (and from the roles claim that the settings name), never from its own scope string.
create table scope_grants (
  id uuid primary key default gen_random_uuid(),
  -- The token's sub.
  subject text not null check (length(subject) between 1 and 200),
  scope varchar(10) not null check (scope in ('read', 'operate', 'admin')),
  granted_by text not null,
  reason text,
  granted_at timestamptz not null default now(),
  revoked_at timestamptz,
  revoked_by text
);
create unique index one_standing_grant on scope_grants (subject, scope) where revoked_at is null;

-- As the chain's profile said when the rollout was created.
alter table rollouts add column two_person_approval boolean not null default false;

alter table events drop constraint events_subject_type_check;
alter table events add constraint events_subject_type_check
  check (subject_type in ('rollout', 'rollout_group', 'node', 'incident', 'api_key', 'scope_grant'));
