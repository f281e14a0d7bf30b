-- A rollout that starts when its chain is at a height, and what is said when the height came and nothing happened.

alter table rollouts
  add column start_at_height bigint check (start_at_height > 0),
  -- When the chain was first seen there.
  add column height_reached_at timestamptz;

-- Average time between blocks, in milliseconds; null: not known yet.
alter table chain_heights add column block_interval_ms double precision;

alter table incidents drop constraint incidents_category_check;
alter table incidents add constraint incidents_category_check
  check (category in ('upgrade_failed', 'upgrade_rollback_failed', 'upgrade_stalled', 'identity_cloned', 'height_passed'));
