#!/bin/sh
# Makes what compose.yaml reads from ./secrets, each once: ./make-secrets.sh NAME-OR-ADDRESS…, by which agents reach the gateway.
# Replace gateway.key and gateway.crt by those of your own authority if you have one; agents need the certificate as ca_file.
set -eu
[ $# -gt 0 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
folder=${HOODCLOUD_SECRETS:-$(cd "$(dirname "$0")" && pwd)/secrets}
mkdir -p -m 0700 "$folder"
cd "$folder"
[ -e database-password ] || openssl rand -hex 24 >database-password
[ -e payload-key ] || openssl rand -base64 32 >payload-key
[ -e grafana-password ] || openssl rand -hex 12 >grafana-password
if [ ! -e gateway.key ]; then
  names=
  for name; do
    case $name in *[!0-9.]*) kind=DNS ;; *) kind=IP ;; esac
    names="${names:+$names,}$kind:$name"
  done
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 825 -subj "/CN=$1" \
    -addext "subjectAltName=$names" -keyout gateway.key -out gateway.crt 2>/dev/null
fi
# containers run as other users than the one who reads this; nobody else gets into the folder
chmod 0444 database-password payload-key grafana-password gateway.key gateway.crt
echo "$folder holds the secrets; keep a copy of payload-key with your backups"
