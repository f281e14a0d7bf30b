#!/bin/sh
# Removes the agent from this host, whichever way it was installed; nodes go on running. As root:
#   remove.sh [--keep-state] [--force]
# --keep-state  keeps /etc/hoodcloud/agent.yaml and /var/lib/hoodcloud: a later installation goes on as the same node
# --force       also while an upgrade is open: nobody finishes or undoes it then
set -eu

here=$(cd "$(dirname "$0")" && pwd)
keep=no
while [ $# -gt 0 ]; do
  case $1 in
    --keep-state) keep=yes ;;
    --force) HOODCLOUD_FORCE=1; export HOODCLOUD_FORCE ;;
    *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || { echo "remove.sh: run it as root" >&2; exit 1; }

if command -v dpkg-query >/dev/null && dpkg-query -W hoodcloud-agent >/dev/null 2>&1; then
  if [ "$keep" = yes ]; then exec dpkg --remove hoodcloud-agent; fi
  exec dpkg --purge hoodcloud-agent
fi

sh "$here/debian/prerm" remove
rm -f /usr/bin/hoodcloud-agent /usr/lib/systemd/system/hoodcloud-agent.service /usr/lib/systemd/system/hoodcloud-agent-upgrade.service
sh "$here/debian/postrm" remove
if [ "$keep" = no ]; then
  rm -f /etc/hoodcloud/agent.yaml
  sh "$here/debian/postrm" purge
fi
if [ "$here" = /usr/lib/hoodcloud-agent ]; then rm -rf "$here"; fi
echo "hoodcloud-agent is removed"
