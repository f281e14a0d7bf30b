#!/bin/sh
# As much of the official image's entry as compose.yaml uses: one user, one database, the password from a file.
set -eu
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
  initdb -D "$data" -U "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" --auth=scram-sha-256 -E UTF8 --no-locale >/dev/null
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") && export PGPASSWORD
  pg_ctl -D "$data" -w -o "-c listen_addresses= -k /tmp" start >/dev/null
  createdb -h /tmp -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -D "$data" -w stop >/dev/null
fi
[ "${1:-}" = postgres ] && shift
exec postgres -D "$data" -c listen_addresses='*' -k /tmp "$@"
