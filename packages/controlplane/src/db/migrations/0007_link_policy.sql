-- A8: a symlink at the install path is followed, or replaced when the manifest asks for it.
alter table rollouts add column link_policy varchar(10) not null default 'follow' check (link_policy in ('follow', 'replace'));
