-- What a node's own metrics say of its voting power: its own (null: none was ever told), that of its whole chain, and when.
alter table nodes add column voting_power bigint;
alter table nodes add column chain_power bigint;
alter table nodes add column voting_power_at timestamptz;
