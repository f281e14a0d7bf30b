-- A8: where a replaced link is to lead to; null when links are followed.
alter table rollouts add column release_name varchar(100);
