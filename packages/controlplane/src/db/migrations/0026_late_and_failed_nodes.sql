-- A node that failed a version isn't offered it again by itself: how each node's latest upgrade in a rollout ended. A way
-- back by hand changes the status of the row, but not what the upgrade showed.

alter table rollouts add column retry_failed boolean not null default false;

alter table rollout_nodes add column upgrade_outcome varchar(10) check (upgrade_outcome in ('succeeded', 'failed'));
alter table rollout_nodes add column upgrade_outcome_at timestamptz;

update rollout_nodes
   set upgrade_outcome = case status when 'succeeded' then 'succeeded' else 'failed' end,
       upgrade_outcome_at = ended_at
 where status in ('succeeded', 'failed', 'rolled_back')
   and attempt_direction = 'upgrade';

create index rollout_nodes_outcomes on rollout_nodes (node_id, upgrade_outcome_at) where upgrade_outcome_at is not null;
