#!/bin/sh
# Backup and restore of the control plane that compose.yaml runs: ./backup.sh save FILE | ./backup.sh restore FILE
# save may run at any time, rollouts included. restore replaces what the database holds: roles are stopped before and started after.
# COMPOSE: the command, by default `docker compose -f compose.yaml` in this folder.
set -eu
cd "$(dirname "$0")"
compose=${COMPOSE:-docker compose -f compose.yaml}
roles="api gateway worker reconciler"
on_database() { $compose exec -T postgres sh -c 'PGPASSWORD=$(cat /run/secrets/database-password) && export PGPASSWORD && exec "$@"' sh "$@"; }

case ${1:-}:${2:+file} in
  save:file)
    on_database pg_dump -h 127.0.0.1 -U hoodcloud --format=custom hoodcloud >"$2.new" </dev/null
    on_database pg_restore --file=/dev/null <"$2.new" # read to its end: what was cut short fails
    mv "$2.new" "$2"
    echo "saved to $2"
    ;;
  restore:file)
    on_database pg_restore --file=/dev/null <"$2" || { echo "backup.sh: $2 is no whole backup; nothing was changed" >&2; exit 1; }
    $compose stop $roles
    on_database dropdb -h 127.0.0.1 -U hoodcloud --force --if-exists --maintenance-db template1 hoodcloud </dev/null
    on_database createdb -h 127.0.0.1 -U hoodcloud --maintenance-db template1 hoodcloud </dev/null
    on_database pg_restore -h 127.0.0.1 -U hoodcloud --exit-on-error --single-transaction -d hoodcloud <"$2"
    $compose run -T --rm --no-deps migrate </dev/null
    $compose up -d --wait --no-deps $roles
    echo "restored from $2"
    ;;
  *)
    sed -n '2,4s/^# //p' "$0" >&2
    exit 2
    ;;
esac
