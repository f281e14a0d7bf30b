-- Plans that somebody saved, to be started only while everything they rest on is as it was.

create table rollout_plans (
  id uuid primary key default gen_random_uuid(),
  chain_profile_id varchar(100) not null,
  -- Body of POST /rollouts, defaults filled in.
  request jsonb not null,
  -- What people were shown: no secret is in it.
  plan jsonb not null,
  -- What is compared before the start (domain/plan-differences.ts).
  facts jsonb not null,
  -- The id that the rollout will have: its canaries are drawn by it, so those that were shown are those that go first.
  rollout_id uuid not null unique,
  saved_by text not null,
  reason text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  started_by text,
  started_at timestamptz,
  check ((started_by is null) = (started_at is null))
);
create index rollout_plans_by_time on rollout_plans (created_at desc, id);

alter table events drop constraint events_subject_type_check;
alter table events add constraint events_subject_type_check
  check (subject_type in ('rollout', 'rollout_group', 'rollout_plan', 'node', 'incident', 'api_key', 'scope_grant'));
