-- What may never happen, and when: rules over the whole fleet, and who set one aside for a rollout.

create table policies (
  id uuid not null unique default gen_random_uuid(),
  kind varchar(40) not null check (kind in ('disruption_budget', 'maintenance_window', 'freeze')),
  name varchar(100) not null,
  -- Body of PUT /policies/{kind}/{name} without kind and name, defaults filled in.
  spec jsonb not null,
  -- Grows by one with each change: what an ETag is made of.
  revision int not null default 1,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_by text not null,
  updated_at timestamptz not null default now(),
  primary key (kind, name)
);

create table rule_overrides (
  id uuid primary key default gen_random_uuid(),
  rollout_id uuid not null references rollouts on delete cascade,
  -- OverridableRule.name of domain/rule-override.ts, such as freeze/payout.
  rule varchar(200) not null,
  actor text not null,
  reason text not null check (reason <> ''),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check (expires_at > created_at)
);
create index rule_overrides_of_rollout on rule_overrides (rollout_id, created_at);

alter table events drop constraint events_subject_type_check;
alter table events add constraint events_subject_type_check
  check (subject_type in ('rollout', 'rollout_group', 'rollout_plan', 'node', 'incident', 'api_key', 'scope_grant', 'policy'));
