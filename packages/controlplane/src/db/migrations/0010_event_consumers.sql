-- How far the events have been brought to those outside (C11): one row a consumer, which keeps its place while it is away.
create table event_cursors (
  consumer varchar(100) primary key,
  last_seq bigint not null default 0,
  updated_at timestamptz not null default now()
);

-- What the dispatcher knows of each notification channel, whose place is the cursor `channel:NAME`. Addresses and secrets
-- are configuration of the reconciler and never come here.
create table notification_channels (
  name varchar(50) primary key,
  type varchar(20) not null,
  -- Events, chains, severity and limit as configured: for people, and for what waits.
  filter jsonb not null,
  configured boolean not null default true,
  -- Failed tries of the message that is next.
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now(),
  failing_since timestamptz,
  last_error text,
  last_delivered_at timestamptz,
  -- Messages of the running minute.
  window_started_at timestamptz not null default now(),
  sent_in_window int not null default 0
);

-- Messages beside the line: dead letters, those that a person sends again, and test messages (no event).
create table notification_deliveries (
  id uuid primary key default gen_random_uuid(),
  channel varchar(50) not null references notification_channels on delete cascade,
  event_seq bigint,
  status varchar(10) not null check (status in ('due', 'delivered', 'dead')),
  attempts int not null default 0,
  last_error text,
  -- Who ordered the test or the new try.
  ordered_by text,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index notification_deliveries_due on notification_deliveries (channel, created_at) where status = 'due';
create index notification_deliveries_by_age on notification_deliveries (created_at, id);
