-- What people did is rare among what the control plane did by itself, and the audit asks for it first.
create index events_by_people on events (published_seq desc) where actor not like 'system:%';
