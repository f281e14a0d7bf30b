-- What people keep a node from: `hold` from being changed at all for a while, `pin` from leaving its version.

create table node_holds (
  node_id uuid not null references nodes on delete cascade,
  kind varchar(10) not null check (kind in ('hold', 'pin')),
  -- The component a pin is about; '' for a hold, which is about the node.
  binary_name varchar(100) not null default '',
  -- The version that a pin keeps.
  version varchar(50),
  actor text not null,
  reason text not null check (reason <> ''),
  created_at timestamptz not null default now(),
  -- Null: until somebody releases it; a hold always ends.
  expires_at timestamptz,
  primary key (node_id, kind, binary_name),
  check ((kind = 'pin') = (version is not null)),
  check ((kind = 'pin') = (binary_name <> '')),
  check (kind = 'pin' or expires_at is not null)
);
