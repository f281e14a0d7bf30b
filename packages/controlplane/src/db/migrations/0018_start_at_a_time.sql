-- A rollout that starts at a time, and the weekly windows that are its own.

alter table rollouts
  add column start_at timestamptz,
  -- The request's windows, defaults filled in.
  add column windows jsonb;
