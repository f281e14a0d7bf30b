#!/bin/sh
# Installs the agent on a host without dpkg; on Debian and its kin install the .deb instead. As root:
#   ./install.sh [--program FILE]     FILE: the agent, by default `hoodcloud-agent` beside this script or in ../dist
# Again with another FILE it upgrades. ./remove.sh takes everything away.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
kept=/usr/lib/hoodcloud-agent
program=
while [ $# -gt 0 ]; do
  case $1 in
    --program) program=${2:?--program wants a file}; shift 2 ;;
    *) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
if [ -z "$program" ]; then
  for candidate in "$here/hoodcloud-agent" "$here/../dist/hoodcloud-agent"; do
    if [ -x "$candidate" ]; then program=$candidate; break; fi
  done
fi
[ "$(id -u)" = 0 ] || { echo "install.sh: run it as root" >&2; exit 1; }
[ -x "$program" ] || { echo "install.sh: there is no program to install: name it by --program (\`npm run package\` makes dist/hoodcloud-agent)" >&2; exit 1; }
if command -v dpkg-query >/dev/null && dpkg-query -W hoodcloud-agent >/dev/null 2>&1; then
  echo "install.sh: the package hoodcloud-agent is installed here: install the newer .deb instead" >&2
  exit 1
fi
version=$("$program" --version) || { echo "install.sh: $program does not run on this host" >&2; exit 1; }

installed=
if [ -x /usr/bin/hoodcloud-agent ]; then installed=$(cat "$kept/version" 2>/dev/null || echo unknown); fi
if [ -n "$installed" ]; then sh "$here/debian/preinst" upgrade; fi

# by a rename each: the running program can't be written to, and a power loss leaves the old or the new
put() { # put FILE TARGET MODE
  mkdir -p "$(dirname "$2")"
  install -m "$3" "$1" "$2.new"
  sync "$2.new"
  mv -T "$2.new" "$2"
}
put "$program" /usr/bin/hoodcloud-agent 0755
for unit in hoodcloud-agent.service hoodcloud-agent-upgrade.service; do
  put "$here/systemd/$unit" "/usr/lib/systemd/system/$unit" 0644
done
for file in remove.sh debian/prerm debian/postrm; do put "$here/$file" "$kept/$file" 0755; done
echo "$version" >"$kept/version"
if [ ! -e /etc/hoodcloud/agent.yaml ]; then put "$here/agent.yaml" /etc/hoodcloud/agent.yaml 0644; fi

sh "$here/debian/postinst" configure "$installed"
echo "hoodcloud-agent $version is installed; $kept/remove.sh removes it"
