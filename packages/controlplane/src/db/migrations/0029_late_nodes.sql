-- Nodes that join, or are heard of again, while a rollout runs, and come after all others.

alter table rollouts add column late_nodes varchar(10) not null default 'ignore' check (late_nodes in ('ignore', 'include'));
alter table rollout_nodes add column late boolean not null default false;
