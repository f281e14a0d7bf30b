-- Failures by what they tell (domain/failure-class.ts): the agent's error code of a failed attempt, and how many of each class
-- a rollout bears. Null: they are not told apart (C5).
alter table rollout_nodes add column error_code varchar(60);
alter table rollouts add column failure_classes jsonb;
