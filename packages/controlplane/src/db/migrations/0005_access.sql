-- Who may call the API.

create table api_keys (
  id uuid primary key default gen_random_uuid(),
  name varchar(100) not null unique,
  -- SHA-256 of the 256-bit secret.
  secret_hash bytea not null unique,
  scopes text[] not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
