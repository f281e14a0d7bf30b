-- What a group remembers (C7a): its status with the reason, its direction, its last answer, and what people ordered of it.

alter table rollout_groups
  add column node_type varchar(50) not null,
  -- How long the gate after a component waits for healthy nodes before the component counts as failed.
  add column gate_timeout_ms int not null check (gate_timeout_ms >= 0),
  add column status_reason varchar(50),
  add column status_reason_params jsonb not null default '{}',
  add column status_changed_at timestamptz not null default now(),
  add column direction varchar(10) not null default 'upgrade' check (direction in ('upgrade', 'rollback')),
  add column rollback_began_at timestamptz,
  -- The last answer of decideGroup, for people (C7a): kind, until, reasons.
  add column last_decision jsonb,
  add column started_at timestamptz,
  add column ended_at timestamptz;
create index rollout_groups_by_time on rollout_groups (created_at desc, id);

-- A component has one rollout, whatever happens to its group: a rollback reuses the row (C2).
create unique index one_rollout_per_component on rollouts (group_id, component_index) where group_id is not null;

create table rollout_group_controls (
  id uuid primary key default gen_random_uuid(),
  group_id uuid not null references rollout_groups on delete cascade,
  kind varchar(20) not null check (kind in ('start', 'pause', 'resume', 'cancel', 'rollback', 'skip')),
  -- The component that a skip names.
  component_index int,
  actor text not null,
  reason text,
  seq bigint generated always as identity,
  created_at timestamptz not null default clock_timestamp()
);
create index rollout_group_controls_by_group on rollout_group_controls (group_id, seq);

alter table engine_messages drop constraint engine_messages_workflow_type_check;
alter table engine_messages add constraint engine_messages_workflow_type_check
  check (workflow_type in ('RolloutWorkflow', 'UpgradeNodeWorkflow', 'RolloutGroupWorkflow'));
