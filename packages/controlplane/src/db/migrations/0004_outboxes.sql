-- What leaves a transaction: engine messages, events; and incidents.

-- An address without content (B4): (workflow, signal) or (workflow, activity). Deleted when delivered.
create table engine_messages (
  id bigint generated always as identity primary key,
  workflow_type varchar(30) not null check (workflow_type in ('RolloutWorkflow', 'UpgradeNodeWorkflow')),
  workflow_id text not null,
  signal varchar(30),
  activity_id text,
  created_at timestamptz not null default now(),
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  check ((signal is null) <> (activity_id is null))
);
create index engine_messages_due on engine_messages (next_attempt_at, id);

create function notify_engine_message() returns trigger language plpgsql as $$
begin
  notify engine_messages;
  return null;
end $$;
create trigger engine_messages_notify after insert on engine_messages for each statement execute function notify_engine_message();

-- Append-only history of every status change; also the outbox for NATS, SSE and notifications (C11).
create table events (
  id bigint generated always as identity primary key,
  subject_type varchar(20) not null check (subject_type in ('rollout', 'rollout_group', 'node', 'incident')),
  subject_id uuid not null,
  -- The rollout it belongs to, so that one query serves a rollout's timeline.
  rollout_id uuid,
  node_id uuid,
  kind varchar(50) not null,
  reason varchar(50),
  reason_params jsonb not null default '{}',
  severity varchar(10) not null default 'info' check (severity in ('info', 'warning', 'critical')),
  actor text not null,
  data jsonb not null default '{}',
  occurred_at timestamptz not null default clock_timestamp(),
  -- Given by one relay in commit order; every consumer's cursor.
  published_seq bigint unique
);
create index events_unpublished on events (id) where published_seq is null;
create index events_by_rollout on events (rollout_id, published_seq);
create index events_by_node on events (node_id, published_seq);

create function notify_event() returns trigger language plpgsql as $$
begin
  notify events;
  return null;
end $$;
create trigger events_notify after insert on events for each statement execute function notify_event();

create table incidents (
  id uuid primary key default gen_random_uuid(),
  category varchar(50) not null check (category in ('upgrade_failed', 'upgrade_rollback_failed', 'upgrade_stalled', 'identity_cloned')),
  severity varchar(10) not null check (severity in ('info', 'warning', 'critical')),
  status varchar(20) not null default 'open' check (status in ('open', 'acknowledged', 'resolved')),
  node_id uuid references nodes,
  rollout_id uuid references rollouts,
  -- One incident per cause: the attempt, or the node for what belongs to no attempt.
  dedupe_key text not null,
  summary text not null,
  recovery_plan text,
  details jsonb not null default '{}',
  created_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  resolved_at timestamptz,
  resolved_by text
);
create unique index one_open_incident_per_cause on incidents (dedupe_key) where status <> 'resolved';
