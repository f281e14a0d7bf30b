#!/bin/bash
# Throw-away Linux hosts that run the real systemd as PID 1.
#
# Each host has its own PID, mount, UTS, IPC, cgroup and network namespace, its own disk (a folder), journald,
# D-Bus and boot id. /usr is the machine's own, bound read-only, so node and every tool is there at once and
# nothing is downloaded; /usr/local belongs to the host. Needs root, bash, util-linux, iproute2, systemd, dbus.
#
#   claim BASE PID                frees labs whose owner died, takes a free lab for the process PID,
#                                 prints LAB_DIR=... LAB_NET=... LAB_BR=... (the settings of all other verbs)
#   up NAME [--bind SRC:DST[:ro]]... [--own-usr]    --own-usr: the host may write to /usr (an overlay)
#   exec NAME CMD...              runs in the host; stdin, stdout and exit code pass through
#   kill NAME                     power loss: SIGKILL to PID 1; the disk stays
#   boot NAME                     boots a killed host's disk again
#   reboot NAME                   orderly reboot, waits for the new boot
#   down NAME                     kills it and deletes disk, network and cgroup
#   cut NAME [switch|cable|IPTABLES-MATCH...] ; heal NAME
#   pid NAME ; ip NAME ; clean
#
# This isolates tests from each other; it is no security boundary.
set -euo pipefail
HPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
SELF=$(readlink -f "$0")
die() { echo "systemd-host: $*" >&2; exit 1; }

settings() {
  : "${LAB_DIR:?}" "${LAB_NET:?}" "${LAB_BR:?}"
  SW=$LAB_BR-sw
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then CG2=/sys/fs/cgroup
  elif [ -e /sys/fs/cgroup/unified/cgroup.controllers ]; then CG2=/sys/fs/cgroup/unified
  else CG2=$LAB_DIR/cgroup2; fi # cgroup v1 only: a v2 tree of the lab's own is mounted there
}
vars() {
  NAME=${1:?NAME}
  [[ $NAME =~ ^[a-z0-9][a-z0-9-]{0,11}$ ]] || die "bad host name '$NAME' (at most 12 of a-z, 0-9 and -)"
  H=$LAB_DIR/hosts/$NAME R=$LAB_DIR/hosts/$NAME/root CG=$CG2/$LAB_BR-$NAME NS=$LAB_BR-$NAME VE=lv-$NAME
}
need() { [ -d "$H" ] || die "there is no host '$NAME' in this lab"; }

# The host's PID 1 as seen from the machine; never a reused pid, never a zombie.
initpid() {
  local p st
  p=$(cat "$H/init.pid" 2>/dev/null) && [ -n "$p" ] && grep -q "/$LAB_BR-$NAME\(/\|$\)" "/proc/$p/cgroup" 2>/dev/null &&
    st=$(cat "/proc/$p/stat" 2>/dev/null) && st=${st##*) } && [ "${st:0:1}" != Z ] && echo "$p"
}
# The host's supervisor; a zombie has no command line, so it counts as gone.
superpid() {
  local p
  p=$(cat "$H/super.pid" 2>/dev/null) && { tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null | grep -q "__super $NAME " && echo "$p"
}
inside() {
  local p
  p=$(initpid) || die "host '$NAME' is not running"
  exec nsenter -t "$p" -m -u -i -n -p -C -- env -i PATH=$HPATH HOME=/root USER=root LANG=C.UTF-8 TERM=dumb "$@"
}

# ---------------------------------------------------------------- disk
MASKED="sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount
  dev-hugepages.mount modprobe@.service systemd-modules-load.service systemd-sysctl.service systemd-udevd.service
  systemd-udev-trigger.service systemd-remount-fs.service systemd-update-utmp.service systemd-update-utmp-runlevel.service
  console-getty.service getty.target systemd-ask-password-console.path systemd-ask-password-wall.path
  systemd-initctl.socket systemd-pcrphase.service systemd-pcrphase-sysinit.service systemd-timesyncd.service
  systemd-journald-audit.socket systemd-sysusers.service systemd-firstboot.service systemd-networkd.service ldconfig.service"
ETC_FILES="passwd group shadow gshadow nsswitch.conf ld.so.conf ld.so.conf.d ld.so.cache host.conf protocols services ssl
  ca-certificates.conf pam.conf pam.d security login.defs dbus-1 alternatives localtime timezone profile profile.d bash.bashrc
  shells os-release debian_version gai.conf iproute2 ethertypes skel subuid subgid environment"
mkdisk() {
  local l f
  mkdir -p "$R"/{usr,etc,proc,sys,dev,run,root,opt,srv,home,mnt,media,tmp,var/{lib,log/journal,cache,tmp,spool,local}}
  chmod 1777 "$R/tmp" "$R/var/tmp"; chmod 700 "$R/root"
  for l in bin sbin lib lib64 lib32 libx32; do [ -L /$l ] && cp -a /$l "$R/"; done
  ln -sfn /run "$R/var/run"; ln -sfn /run/lock "$R/var/lock"
  mkdir -p "$H/usr-local"/{bin,sbin,lib,etc,share,src,include,games}
  for f in $ETC_FILES; do [ -e "/etc/$f" ] || [ -L "/etc/$f" ] && cp -a "/etc/$f" "$R/etc/"; done
  mkdir -p "$R/etc/systemd/system" "$R/etc/systemd/journald.conf.d" "$R/etc/default"
  echo "$NAME" >"$R/etc/hostname"; : >"$R/etc/machine-id"; : >"$R/etc/resolv.conf"
  ln -sfn /proc/self/mounts "$R/etc/mtab"
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n%s.1 control\n' "$NAME" "$LAB_NET" >"$R/etc/hosts"
  printf '[Journal]\nStorage=persistent\nSystemMaxUse=64M\nSystemMaxFileSize=8M\nRateLimitIntervalSec=0\nAudit=no\nForwardToSyslog=no\n' \
    >"$R/etc/systemd/journald.conf.d/lab.conf"
  ln -sfn /lib/systemd/system/multi-user.target "$R/etc/systemd/system/default.target"
  for f in $MASKED; do ln -sfn /dev/null "$R/etc/systemd/system/$f"; done
}

# ---------------------------------------------------------------- network
# machine: LAB_BR (LAB_NET.1) --- [switch: bridge br0 in a net namespace of its own] --- eth0 in each host's namespace.
# The switch has its own namespace so that no iptables rule of the machine (Docker sets FORWARD to DROP) ever sees
# its frames, and a cut host is simply unplugged from it. Hosts have no default route.
mknet() {
  exec 9>"$LAB_DIR/lock"; flock 9
  if [ ! -e "/sys/class/net/$LAB_BR" ]; then
    [ -e "/run/netns/$SW" ] || ip netns add "$SW"
    ip -n "$SW" link add br0 type bridge; ip -n "$SW" link set br0 up; ip -n "$SW" link set lo up
    ip link add "$LAB_BR" type veth peer name up0 netns "$SW"; ip -n "$SW" link set up0 master br0 up
    echo 1 >"/proc/sys/net/ipv6/conf/$LAB_BR/disable_ipv6" 2>/dev/null || true
    echo 0 >"/proc/sys/net/ipv4/conf/$LAB_BR/forwarding"
    ip addr add "$LAB_NET.1/24" dev "$LAB_BR"; ip link set "$LAB_BR" up
    # Nothing for a lab address may ever leave by the machine's default route.
    ip route add unreachable "$LAB_NET.0/24" metric 4278198272 2>/dev/null || true
  fi
  local n=2
  while [ -e "$LAB_DIR/ips/$n" ]; do n=$((n + 1)); done
  [ $n -lt 255 ] || die "no address is left in $LAB_NET.0/24"
  mkdir -p "$LAB_DIR/ips"; echo "$NAME" >"$LAB_DIR/ips/$n"; echo "$LAB_NET.$n" >"$H/ip"
  ip netns del "$NS" 2>/dev/null || true; ip -n "$SW" link del "$VE" 2>/dev/null || true
  ip netns add "$NS"
  ip -n "$SW" link add "$VE" type veth peer name eth0 netns "$NS"
  ip -n "$SW" link set "$VE" master br0 up
  # The MAC follows from the address: an address used again leaves no stale ARP entry.
  ip -n "$NS" link set eth0 address "$(printf '02:00:c6:12:00:%02x' $n)"
  ip -n "$NS" link set lo up; ip -n "$NS" addr add "$LAB_NET.$n/24" dev eth0; ip -n "$NS" link set eth0 up
  exec 9>&-
}
rmnet() {
  ip -n "$SW" link del "$VE" 2>/dev/null || true
  ip netns del "$NS" 2>/dev/null || true
  [ ! -f "$H/ip" ] || rm -f "$LAB_DIR/ips/$(sed 's/.*\.//' "$H/ip")"
}

# ---------------------------------------------------------------- boot
start() {
  mkdir -p "$CG"; rm -f "$H/init.pid"
  setsid nsenter "--net=/run/netns/$NS" "$SELF" __super "$NAME" </dev/null >>"$H/console.log" 2>&1 9>&- &
  echo $! >"$H/super.pid"
  local i
  for ((i = 0; i < 3000; i++)); do superpid >/dev/null && break; sleep 0.01; done # until it has exec'ed
  waitboot
}
waitboot() { # [OLDPID]: until a PID 1 other than OLDPID has finished booting
  local old=${1:-} p s i
  for ((i = 0; i < 3000; i++)); do
    superpid >/dev/null || { cat "$H/console.log" >&2; die "host '$NAME' died while booting"; }
    if p=$(initpid) && [ "$p" != "$old" ] && [ -S "/proc/$p/root/run/systemd/private" ]; then
      s=$(inside systemctl is-system-running --wait 2>/dev/null) || true
      case $s in running | degraded) return 0 ;; esac
    fi
    sleep 0.02
  done
  die "host '$NAME' did not boot within 60 s; its console is $H/console.log"
}
__super() { # boots again when the host asks for a reboot
  trap '' HUP INT
  local rc
  while :; do
    rc=0
    setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount --uts --ipc "$SELF" __init1 "$NAME" || rc=$?
    echo "== PID 1 of $NAME ended: $rc"
    [ $rc = 129 ] || break # 129 = SIGHUP = reboot(2); 130 = SIGINT = poweroff; 137 = killed
  done
  rm -f "$H/init.pid"
}
__init1() { # in the new pid, mount, uts and ipc namespaces; /proc is still the machine's
  trap - HUP INT
  local p
  read -r p _ </proc/self/stat; echo "$p" >"$H/init.pid.new"; mv "$H/init.pid.new" "$H/init.pid"
  echo 0 >"$CG/cgroup.procs" # only now: a member from outside the pid namespace breaks `systemctl status`
  exec unshare --cgroup "$SELF" __init2 "$NAME"
}
mkdev() {
  local n d a b
  mount -t tmpfs -o mode=755,nosuid,size=16m tmpfs "$R/dev"
  for n in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    IFS=: read -r d a b <<<"$n"; mknod -m 666 "$R/dev/$d" c "$a" "$b"
  done
  mkdir "$R/dev/pts" "$R/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$R/dev/pts"
  ln -s pts/ptmx "$R/dev/ptmx"; ln -s /proc/self/fd "$R/dev/fd"
  ln -s fd/0 "$R/dev/stdin"; ln -s fd/1 "$R/dev/stdout"; ln -s fd/2 "$R/dev/stderr"
  mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$R/dev/shm"
}
mkbinds() {
  local bnd src dst mode
  for bnd in "${BINDS[@]}"; do
    IFS=: read -r src dst mode <<<"$bnd"
    if [ -d "$src" ]; then mkdir -p "$R$dst"; else mkdir -p "$(dirname "$R$dst")"; touch "$R$dst"; fi
    mount --bind "$src" "$R$dst"
    [ "${mode:-}" != ro ] || mount -o remount,bind,ro "$R$dst"
  done
}
__init2() {
  mount --make-rprivate /
  mount --bind "$R" "$R"
  if [ -n "${OWN_USR:-}" ]; then
    mkdir -p "$H/usr-upper" "$H/usr-work"
    mount -t overlay overlay -o "lowerdir=/usr,upperdir=$H/usr-upper,workdir=$H/usr-work" "$R/usr"
  else
    mount --bind /usr "$R/usr"; mount -o remount,bind,ro "$R/usr"
  fi
  mount --bind "$H/usr-local" "$R/usr/local"
  mount -t proc -o nosuid,nodev,noexec proc "$R/proc"
  mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$R/sys"
  mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$R/sys/fs/cgroup"
  mkdev
  mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$R/run"
  # The machine's kernel settings stay out of reach; the host's own network settings stay writable.
  mount --bind "$R/proc/sys" "$R/proc/sys"; mount --bind "$R/proc/sys/net" "$R/proc/sys/net"
  mount -o remount,bind,ro "$R/proc/sys"
  # A boot id of its own per boot, as nspawn gives: journald and the agent tell boots apart by it.
  cat /proc/sys/kernel/random/uuid >"$R/run/.boot_id"; chmod 444 "$R/run/.boot_id"
  mount --bind "$R/run/.boot_id" "$R/proc/sys/kernel/random/boot_id"; rm "$R/run/.boot_id"
  mkbinds
  hostname "$NAME"
  cd "$R"; pivot_root . mnt; umount -l /mnt; cd /
  exec setpriv --pdeathsig KILL --bounding-set=-sys_module,-sys_time,-sys_rawio,-syslog,-wake_alarm --inh-caps=-all \
    env -i container=lab PATH=$HPATH LANG=C.UTF-8 /lib/systemd/systemd --log-target=journal </dev/null
}

# ---------------------------------------------------------------- ends
waitgone() { local i; for ((i = 0; i < $1; i++)); do superpid >/dev/null || return 0; sleep 0.02; done; return 1; }
powerloss() {
  local p s
  if p=$(initpid); then kill -9 "$p"
  elif s=$(superpid); then kill -9 "$s" $(pgrep -P "$s" || true) 2>/dev/null || true; fi # still booting
  waitgone 1500 || die "the supervisor of '$NAME' does not end"
}
rmcg() { # also what an engine in the host made under this name in the trees of cgroup v1
  find /sys/fs/cgroup "$CG2" -depth -type d \( -path "*/$LAB_BR-$NAME" -o -path "*/$LAB_BR-$NAME/*" \) -exec rmdir {} \; 2>/dev/null || true
}
clean() {
  local h
  for h in "$LAB_DIR"/hosts/*/; do [ ! -d "$h" ] || LAB_DIR=$LAB_DIR LAB_NET=$LAB_NET LAB_BR=$LAB_BR "$SELF" down "$(basename "$h")"; done
  ip link del "$LAB_BR" 2>/dev/null || true; ip netns del "$SW" 2>/dev/null || true
  ip route del unreachable "$LAB_NET.0/24" metric 4278198272 2>/dev/null || true
  ! mountpoint -q "$LAB_DIR/cgroup2" || umount "$LAB_DIR/cgroup2"
  # The owner's name goes last: whoever looks meanwhile must not take the lab for a dead one and clean it too.
  [ ! -d "$LAB_DIR" ] || find "$LAB_DIR" -mindepth 1 -maxdepth 1 ! -name owner -exec rm -rf --one-file-system {} +
  rm -rf --one-file-system "$LAB_DIR"
}

# A lab is one /24 of 198.18.0.0/15, the range kept for benchmarks (RFC 2544), and the folder BASE/SLOT with its owner.
alive() { # OWNERFILE: does the very process still run (pid and start time)
  local pid started
  read -r pid started <"$1" 2>/dev/null && [ "$(starttime "$pid")" = "$started" ]
}
starttime() { local st; st=$(cat "/proc/$1/stat" 2>/dev/null) || return 0; st=${st##*) }; set -- $st; [ "$1" = Z ] || echo "${20}"; }
slotvars() { LAB_DIR=$1/$2 LAB_NET=198.$((18 + $2 / 256)).$(($2 % 256)) LAB_BR=hl$2; settings; }
claim() {
  local base=$1 owner=$2 slot d
  mkdir -p "$base"; exec 8>"$base/lock"; flock 8
  for d in "$base"/*/; do
    [ -d "$d" ] || continue
    alive "$d/owner" || { slotvars "$base" "$(basename "$d")"; clean >&2 8>&-; }
  done
  for ((slot = 1; slot < 512; slot++)); do
    slotvars "$base" $slot
    # The namespace is the claim: its name is taken atomically, also against labs with another base folder.
    if [ ! -e "$LAB_DIR" ] && ip netns add "$SW" 2>/dev/null; then
      mkdir "$LAB_DIR"; echo "$owner $(starttime "$owner")" >"$LAB_DIR/owner"
      printf 'LAB_DIR=%s\nLAB_NET=%s\nLAB_BR=%s\n' "$LAB_DIR" "$LAB_NET" "$LAB_BR"
      return 0
    fi
  done
  die "all 511 labs of 198.18.0.0/15 are taken"
}

up() {
  [ ! -e "$H" ] || die "host '$NAME' exists already"
  BINDS=() OWN_USR=
  while [ $# -gt 0 ]; do case $1 in --bind) BINDS+=("$2"); shift 2 ;; --own-usr) OWN_USR=yes; shift ;; *) die "unknown option $1" ;; esac; done
  mkdir -p "$H"
  if [ "$CG2" = "$LAB_DIR/cgroup2" ] && ! mountpoint -q "$CG2"; then mkdir -p "$CG2"; mount -t cgroup2 cgroup2 "$CG2"; fi
  declare -p BINDS OWN_USR >"$H/opts"
  mkdisk; mknet; start
}
cut() {
  case ${1:-switch} in
  switch) ip -n "$SW" link set "$VE" nomaster ;; # carrier stays up, frames vanish: a silent partition
  cable) ip -n "$SW" link set "$VE" down ;;      # the host sees NO-CARRIER
  *) ip netns exec "$NS" iptables -w -I OUTPUT -o eth0 "$@" -j DROP ;;
  esac
}
heal() {
  ip -n "$SW" link set "$VE" master br0 up
  ! command -v iptables >/dev/null || ip netns exec "$NS" iptables -w -F OUTPUT
  ip -n "$NS" neigh flush dev eth0; ip neigh flush to "$(cat "$H/ip")" dev "$LAB_BR"
}
reboot() {
  local old
  old=$(initpid) || die "host '$NAME' is not running"
  (inside systemctl reboot) >/dev/null 2>&1 || true
  waitboot "$old"
}

main() {
  local verb=${1:?verb}; shift
  case $verb in
  claim) claim "$@"; return ;;
  clean) settings; clean; return ;;
  esac
  settings; vars "$@"; shift
  [ "$verb" = up ] || need
  case $verb in
  up | cut | heal | reboot) $verb "$@" ;;
  exec) inside "$@" ;;
  kill) powerloss; rmcg ;;
  boot) ! initpid >/dev/null || die "host '$NAME' runs already"; start ;;
  down) powerloss; rmcg; rmnet; rm -rf --one-file-system "$H" ;;
  pid) initpid ;;
  ip) cat "$H/ip" ;;
  __super | __init1 | __init2) . "$H/opts"; $verb ;;
  *) die "unknown verb '$verb'" ;;
  esac
}
main "$@"
