-- What the chain's expressions said of a heartbeat when it came (D0a), so that a validation need not evaluate them again:
-- {application_health, sync_status, height, ready}.
alter table node_heartbeats add column judged jsonb not null default '{}';
