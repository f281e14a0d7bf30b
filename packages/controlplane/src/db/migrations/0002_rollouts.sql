-- Rollouts, their nodes, what people ordered, and who owns a chain.

create table rollout_groups (
  id uuid primary key default gen_random_uuid(),
  chain_profile_id varchar(100) not null,
  status varchar(20) not null default 'pending'
    check (status in ('pending', 'running', 'paused', 'completed', 'failed', 'canceled', 'rolled_back', 'partial')),
  failure_policy varchar(20) not null check (failure_policy in ('partial_ok', 'rollback_all', 'manual')),
  component_order jsonb not null,
  desired_versions jsonb not null,
  strategy varchar(20) not null check (strategy in ('rolling', 'canary', 'all_at_once')),
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index one_active_group_per_chain on rollout_groups (chain_profile_id) where status in ('pending', 'running', 'paused');

create table rollouts (
  id uuid primary key default gen_random_uuid(),
  group_id uuid references rollout_groups,
  component_index int not null default 0,
  chain_profile_id varchar(100) not null,
  node_type varchar(50) not null,
  upgrade_id varchar(100),
  binary_name varchar(100) not null,
  -- Null in auto mode: then it is each node's own version (E5).
  source_version varchar(50),
  target_version varchar(50) not null,
  artifact_kind varchar(10) not null check (artifact_kind in ('file', 'image')),
  target_binary_url text not null,
  target_binary_checksum text not null check (target_binary_checksum <> ''),
  target_artifact_member text,
  strategy varchar(20) not null check (strategy in ('rolling', 'canary', 'all_at_once')),
  batch_size int not null check (batch_size >= 1),
  canary_size int not null default 1 check (canary_size >= 1),
  failure_threshold double precision not null default 0 check (failure_threshold between 0 and 1),
  max_failures int check (max_failures >= 0),
  min_attempted int not null default 1 check (min_attempted >= 1),
  max_in_flight int check (max_in_flight >= 1),
  health_wait_ms int not null check (health_wait_ms >= 0),
  force_continue boolean not null default false,
  skip_validation boolean not null default false,
  offline_policy varchar(10) not null default 'skip' check (offline_policy in ('skip', 'wait')),
  drift_policy varchar(10) not null default 'fail' check (drift_policy in ('fail', 'overwrite')),
  migration_type varchar(20) not null default 'none' check (migration_type in ('none', 'compatible', 'breaking')),
  recovery_plan text,
  acknowledge_state_risk boolean not null default false,
  -- [{path, template, overrides}] and the templates' text as they were at creation (E3).
  config_changes jsonb not null default '[]',
  manifest_content_hash text not null,
  -- Node ids asked for; null means every node of the chain and type.
  node_ids uuid[],
  status varchar(20) not null default 'pending'
    check (status in ('pending', 'running', 'paused', 'completed', 'failed', 'canceled', 'rolled_back')),
  status_reason varchar(50),
  status_reason_params jsonb not null default '{}',
  status_changed_at timestamptz not null default now(),
  direction varchar(10) not null default 'upgrade' check (direction in ('upgrade', 'rollback')),
  -- The last answer of decideNext, for people (C7a): kind, until, reasons.
  last_decision jsonb,
  total_nodes int not null default 0,
  succeeded_nodes int not null default 0,
  failed_nodes int not null default 0,
  pending_nodes int not null default 0,
  skipped_nodes int not null default 0,
  targets_resolved_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  updated_at timestamptz not null default now()
);
create unique index one_active_rollout_per_chain on rollouts (chain_profile_id) where status in ('pending', 'running', 'paused');
create index rollouts_by_time on rollouts (created_at desc, id);

-- A standalone rollout and a group exclude each other on a chain (C2).
create table active_chains (
  chain_profile_id varchar(100) primary key,
  owner_type varchar(20) not null check (owner_type in ('rollout', 'rollout_group')),
  owner_id uuid not null,
  since timestamptz not null default now()
);

create table rollout_nodes (
  id uuid primary key default gen_random_uuid(),
  rollout_id uuid not null references rollouts on delete cascade,
  node_id uuid not null references nodes,
  batch_index int not null,
  status varchar(20) not null default 'pending'
    check (status in ('pending', 'in_progress', 'validating', 'succeeded', 'failed', 'rolled_back', 'skipped')),
  status_reason varchar(50),
  status_reason_params jsonb not null default '{}',
  upgrade_phase varchar(20)
    check (upgrade_phase in ('PREPARING', 'STOPPED', 'MUTATING', 'STARTING', 'VERIFYING', 'COMPLETED', 'ROLLBACKING', 'ROLLED_BACK', 'FAILED_ROLLBACK')),
  phase_changed_at timestamptz,
  previous_version text,
  previous_binary_url text,
  previous_checksum text,
  -- What the host had installed before (differs from the downloaded archive's checksum, A6).
  previous_installed_checksum text,
  -- path -> content of the configs before, as rendered by us; null when never written by us.
  previous_config_hashes jsonb not null default '{}',
  error_message text,
  attempt_count int not null default 0,
  -- The attempt that is wanted; greater than attempt_count while a child should run for it (C7, C8).
  requested_attempt int not null default 1,
  attempt_direction varchar(10) not null default 'upgrade' check (attempt_direction in ('upgrade', 'rollback')),
  offered_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  -- How long the last successful upgrade took; orders a rollback, fastest first (C3).
  duration_ms int,
  downtime_ms int,
  left_stopped boolean not null default false,
  installed_checksum text,
  running_checksum text,
  log_tail jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (rollout_id, node_id)
);
-- One change per node, whatever the state of their rollouts (C2a).
create unique index one_change_per_node on rollout_nodes (node_id) where status in ('in_progress', 'validating');
create index rollout_nodes_by_batch on rollout_nodes (rollout_id, batch_index);
create index rollout_nodes_by_node on rollout_nodes (node_id, created_at desc);

create table rollout_controls (
  id uuid primary key default gen_random_uuid(),
  rollout_id uuid not null references rollouts on delete cascade,
  kind varchar(20) not null
    check (kind in ('start', 'pause', 'resume', 'cancel', 'force', 'approve_canary', 'rollback', 'retry', 'skip')),
  node_id uuid references nodes,
  actor text not null,
  reason text,
  failures_acknowledged int,
  -- Ties within one transaction are broken by this number.
  seq bigint generated always as identity,
  created_at timestamptz not null default clock_timestamp()
);
create index rollout_controls_by_rollout on rollout_controls (rollout_id, seq);

-- Answers of creating requests by their Idempotency-Key (C10c).
create table idempotency_keys (
  key text not null,
  actor text not null,
  request_hash text not null,
  response_status int not null,
  response_body jsonb not null,
  created_at timestamptz not null default now(),
  primary key (actor, key)
);
