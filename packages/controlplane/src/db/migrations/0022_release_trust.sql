-- How old a release is: what its manifest says, or since when somebody wants its bytes installed.

alter table rollouts add column released_at timestamptz;

create table seen_artifacts (
  -- 64 hex digits, as `bareSha256` writes them.
  checksum varchar(64) primary key,
  first_seen_at timestamptz not null default now()
);

insert into seen_artifacts (checksum, first_seen_at)
select checksum, min(created_at)
  from (select replace(lower(target_binary_checksum), 'sha256:', '') as checksum, created_at from rollouts
        union all
        select replace(lower(one.value ->> 'checksum'), 'sha256:', ''), created_at
          from rollouts, jsonb_each(artifacts) as one) as named
 where checksum ~ '^[0-9a-f]{64}$'
 group by checksum;
