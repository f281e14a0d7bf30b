-- What agents are told, what they answered, and which proofs of health are open.

create table agent_commands (
  -- Also the id of the workflow's waiting activity (B4a).
  id uuid primary key default gen_random_uuid(),
  node_id uuid not null references nodes,
  rollout_id uuid not null references rollouts,
  rollout_node_id uuid not null references rollout_nodes,
  attempt_id text not null,
  operation varchar(20) not null check (operation in ('UPGRADE', 'COMPENSATE', 'CONFIRM')),
  -- UpgradePayload of the wire; holds rendered configs, encrypted when a key is configured (C12).
  payload bytea not null,
  status varchar(20) not null default 'pending'
    check (status in ('pending', 'delivered', 'acknowledged', 'completed', 'failed', 'expired', 'superseded')),
  workflow_id text not null,
  created_at timestamptz not null default now(),
  deadline_at timestamptz not null,
  delivered_at timestamptz,
  delivered_session_id uuid,
  deliveries int not null default 0,
  acknowledged_at timestamptz,
  ended_at timestamptz,
  outcome varchar(20) check (outcome in ('completed', 'rolled_back', 'failed_rollback', 'refused')),
  -- CommandResult of the wire as JSON.
  result jsonb,
  -- A result that came after the row had ended: shown, never applied (B5a).
  late_result jsonb,
  -- Progress (B4a): heartbeat details of the activity.
  action_index int,
  action_name varchar(30),
  progress_pct int,
  progress_note text,
  progress_at timestamptz,
  heartbeat_forwarded_at timestamptz,
  -- The workflow has read the terminal row; until then the sweep writes its address again (B4).
  result_taken_at timestamptz,
  unique (attempt_id, operation)
);
create index agent_commands_open on agent_commands (node_id) where status in ('pending', 'delivered', 'acknowledged');
create index agent_commands_deadline on agent_commands (deadline_at) where status in ('pending', 'delivered', 'acknowledged');
create index agent_commands_untaken on agent_commands (ended_at) where result_taken_at is null and ended_at is not null;
create index agent_commands_by_rollout on agent_commands (rollout_id, created_at);

create function notify_agent_command() returns trigger language plpgsql as $$
begin
  perform pg_notify('agent_commands', new.node_id::text);
  return null;
end $$;
create trigger agent_commands_notify after insert on agent_commands for each row execute function notify_agent_command();

-- Open and ended proofs of health; a reconciler judges all open ones in one query a tick (B4a).
create table health_validations (
  -- Also the id of the workflow's waiting activity.
  id uuid primary key default gen_random_uuid(),
  node_id uuid not null references nodes,
  rollout_id uuid not null references rollouts,
  rollout_node_id uuid not null references rollout_nodes,
  attempt_id text not null unique,
  binary_name varchar(100) not null,
  expected_checksum text not null,
  health_wait_ms int not null,
  workflow_id text not null,
  -- Only heartbeats received after this moment count (D1).
  since timestamptz not null,
  status varchar(10) not null default 'open' check (status in ('open', 'passed', 'failed')),
  -- Reason[] of the verdict; while open, what is still missing.
  reasons jsonb not null default '[]',
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  result_taken_at timestamptz
);
create index health_validations_open on health_validations (created_at) where status = 'open';
create index health_validations_untaken on health_validations (ended_at) where result_taken_at is null and ended_at is not null;
