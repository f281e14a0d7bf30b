-- What nodes do ahead of their attempt, and how far each is.

alter table rollouts add column stage boolean not null default false;

alter table rollout_nodes
  -- What the agent was last told to have ready; null: nothing.
  add column stage_goal varchar(20) check (stage_goal in ('staged', 'armed', 'unstaged')),
  -- What it said last; null: it was never told anything.
  add column stage_state varchar(20) check (stage_state in ('staging', 'staged', 'armed', 'not_ready', 'unstaged')),
  add column stage_error text,
  add column stage_command_id uuid references agent_commands,
  add column stage_changed_at timestamptz;
create index rollout_nodes_staged on rollout_nodes (rollout_id) where stage_goal in ('staged', 'armed');

-- Staging may be told again and again; the operations of an attempt once.
alter table agent_commands drop constraint agent_commands_operation_check;
alter table agent_commands add constraint agent_commands_operation_check
  check (operation in ('UPGRADE', 'COMPENSATE', 'CONFIRM', 'STAGE', 'UNSTAGE'));
alter table agent_commands drop constraint agent_commands_attempt_id_operation_key;
create unique index agent_commands_attempt_id_operation_key on agent_commands (attempt_id, operation)
  where operation in ('UPGRADE', 'COMPENSATE', 'CONFIRM');
create index agent_commands_of_staging on agent_commands (ended_at)
  where operation in ('STAGE', 'UNSTAGE') and result_taken_at is null;
