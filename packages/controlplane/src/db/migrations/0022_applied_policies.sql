-- Who may set a policy aside for a rollout.
alter table scope_grants drop constraint scope_grants_scope_check;
alter table scope_grants add constraint scope_grants_scope_check check (scope in ('read', 'operate', 'admin', 'override'));

-- Where a policy is written down; null: it was changed by hand.
alter table policies add column managed_by varchar(100);

-- A name that no other rollout ever has, so that what is written down once is created once.
alter table rollouts add column name varchar(100) unique;
