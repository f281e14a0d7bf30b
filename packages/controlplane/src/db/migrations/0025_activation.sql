-- Agents that swap by themselves when the height has come.

alter table rollouts add column activation varchar(10) not null default 'rollout'
  check (activation in ('rollout', 'height', 'plan'));
alter table rollout_nodes drop constraint rollout_nodes_stage_state_check;
alter table rollout_nodes add constraint rollout_nodes_stage_state_check
  check (stage_state in ('staging', 'staged', 'armed', 'activated', 'not_ready', 'unstaged'));
