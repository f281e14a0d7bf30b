-- What the fleet is: nodes, their components, what is configured on them, and who may speak for them.

create table nodes (
  id uuid primary key default gen_random_uuid(),
  name varchar(100) not null unique,
  chain_profile_id varchar(100) not null,
  node_type varchar(50) not null,
  labels jsonb not null default '{}',
  -- Values for config templates that are this node's own (spec "Config Rendering Pipeline").
  variables jsonb not null default '{}',
  state varchar(20) not null default 'provisioning'
    check (state in ('provisioning', 'syncing', 'healthy', 'degraded', 'down', 'maintenance', 'terminating', 'terminated', 'failed')),
  -- Maintenance remembers what was before and who put the node there (D5).
  prior_state varchar(20),
  maintenance_owner uuid,
  application_health varchar(20) not null default 'unknown' check (application_health in ('ok', 'degraded', 'critical', 'unknown')),
  sync_status varchar(20) not null default 'unknown' check (sync_status in ('synced', 'syncing', 'stalled', 'unknown')),
  height bigint,
  height_grew_at timestamptz,
  last_heartbeat_at timestamptz,
  clock_skew_ms integer,
  joined_at timestamptz,
  -- Two hosts claim this identity (B3).
  quarantined_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((state = 'maintenance') = (maintenance_owner is not null))
);
create index nodes_by_chain on nodes (chain_profile_id, name);

create table node_components (
  node_id uuid not null references nodes on delete cascade,
  binary_name varchar(100) not null,
  runtime_type varchar(20) not null check (runtime_type in ('systemd', 'docker', 'process')),
  artifact_kind varchar(10) not null check (artifact_kind in ('file', 'image')),
  active boolean not null,
  main_pid integer,
  main_pid_started_at bigint,
  restarts integer not null default 0,
  running_checksum text,
  installed_checksum text,
  reported_version varchar(50),
  config_checksums jsonb not null default '{}',
  updated_at timestamptz not null default now(),
  primary key (node_id, binary_name)
);

-- Spec "NodeConfigState": what the control plane knows to be on a node.
create table node_config_state (
  node_id uuid not null references nodes on delete cascade,
  binary_name varchar(100) not null,
  binary_version varchar(50),
  binary_url text,
  binary_checksum text,
  installed_checksum text,
  -- Who named the version: a manifest or profile whose checksum was seen running, a rollout, an operator, or nobody yet (B2).
  version_source varchar(20) not null default 'unknown' check (version_source in ('unknown', 'manifest', 'profile', 'rollout', 'operator')),
  -- path -> sha256:<hex> last written (E4).
  config_hashes jsonb not null default '{}',
  updated_at timestamptz not null default now(),
  primary key (node_id, binary_name)
);

create table join_tokens (
  id uuid primary key default gen_random_uuid(),
  node_id uuid not null references nodes on delete cascade,
  token_hash bytea not null unique,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create table agent_credentials (
  id uuid primary key default gen_random_uuid(),
  node_id uuid not null references nodes on delete cascade,
  secret_hash bytea not null unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create unique index one_credential_per_node on agent_credentials (node_id) where revoked_at is null;

create table agent_sessions (
  id uuid primary key default gen_random_uuid(),
  node_id uuid not null references nodes on delete cascade,
  gateway_id text not null,
  instance_nonce text not null,
  boot_id text not null,
  agent_version varchar(50) not null,
  hostname text not null,
  os varchar(20) not null,
  arch varchar(20) not null,
  connected_at timestamptz not null default now(),
  ended_at timestamptz,
  end_reason varchar(50)
);
create unique index one_open_session_per_node on agent_sessions (node_id) where ended_at is null;
create index agent_sessions_by_node on agent_sessions (node_id, connected_at desc);

-- Raw heartbeats; health validation reads these, since evaluators skip maintenance (D2). Pruned by age.
create table node_heartbeats (
  id bigint generated always as identity primary key,
  node_id uuid not null references nodes on delete cascade,
  session_id uuid not null,
  received_at timestamptz not null default clock_timestamp(),
  -- ComponentReport[] as JSON.
  components jsonb not null
);
create index node_heartbeats_by_node on node_heartbeats (node_id, received_at desc);
create index node_heartbeats_by_time on node_heartbeats (received_at);

-- Best height of each chain over its fleet, and when it last grew (D4a).
create table chain_heights (
  chain_profile_id varchar(100) primary key,
  best_height bigint not null,
  grew_at timestamptz not null
);
