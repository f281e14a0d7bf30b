-- Steps of the vendor in an upgrade (domain/vendor-hook.ts), as they were when the rollout was created.
alter table rollouts add column hooks jsonb not null default '[]';
