/** One option of `docker run` as a test container has it. */
export interface CoveredOption {
  /** As `docker run --help` names it. */
  readonly option: string;
  readonly arguments: readonly string[];
  /** Where the inspect shows it; what it says is compared raw. */
  readonly shownIn: string;
  /** The same in a Compose file (format 2.4); left out where the format has no word for it. */
  readonly compose?: Readonly<Record<string, unknown>>;
}

/** In arguments: the lab's own control group, below which a test may make others. */
export const GROUP = 'GROUP';

/** In the Compose file as a part of another option's entry. */
const WITHIN = {};

/** Surroundings that the containers refer to, made before them, as a script for the host. */
export const SURROUNDINGS = `
mkdir -p /srv/ro /srv/rw /srv/slave /srv/mount
docker network create --subnet 10.91.0.0/24 --ipv6 --subnet fd00:91::/64 chain-net
docker network create --subnet 10.92.0.0/24 second-net
docker volume create named
printf 'FROM_FILE=1\\n' >/srv/env; printf 'from.file=1\\n' >/srv/label
`;

/** All that fit together in one container on a network of its own. */
export const ON_A_NETWORK: readonly CoveredOption[] = [
  one('--add-host', 'peer:10.91.0.3', 'HostConfig.ExtraHosts', { extra_hosts: ['peer:10.91.0.3'] }),
  one('--cap-add', 'NET_ADMIN', 'HostConfig.CapAdd', { cap_add: ['NET_ADMIN'] }),
  one('--cap-drop', 'MKNOD', 'HostConfig.CapDrop', { cap_drop: ['MKNOD'] }),
  one('--cgroupns', 'private', 'HostConfig.CgroupnsMode'),
  one('--cpu-shares', '512', 'HostConfig.CpuShares', { cpu_shares: 512 }),
  one('--cpus', '0.75', 'HostConfig.NanoCpus', { cpus: 0.75 }),
  one('--cpuset-cpus', '0', 'HostConfig.CpusetCpus', { cpuset: '0' }),
  one('--cpuset-mems', '0', 'HostConfig.CpusetMems'),
  one('--device', '/dev/null:/dev/quiet:rw', 'HostConfig.Devices', { devices: ['/dev/null:/dev/quiet:rw'] }),
  one('--device-cgroup-rule', 'c 1:3 rw', 'HostConfig.DeviceCgroupRules', { device_cgroup_rules: ['c 1:3 rw'] }),
  one('--dns', '10.91.0.53', 'HostConfig.Dns', { dns: ['10.91.0.53'] }),
  one('--dns-option', 'ndots:2', 'HostConfig.DnsOptions', { dns_opt: ['ndots:2'] }),
  one('--dns-search', 'example.org', 'HostConfig.DnsSearch', { dns_search: ['example.org'] }),
  one('--domainname', 'example.org', 'Config.Domainname', { domainname: 'example.org' }),
  one('--entrypoint', '/bin/sh', 'Config.Entrypoint', { entrypoint: '/bin/sh', command: ['-c', '/bin/app'] }),
  one('--env', 'OWN=a=b c', 'Config.Env', { environment: { OWN: 'a=b c' } }),
  one('--env-file', '/srv/env', 'Config.Env', { env_file: '/srv/env' }),
  one('--expose', '9000/udp', 'Config.ExposedPorts', { expose: ['9000/udp'] }),
  one('--group-add', '3000', 'HostConfig.GroupAdd', { group_add: ['3000'] }),
  one('--health-cmd', 'test -e /www', 'Config.Healthcheck', {
    healthcheck: { test: 'test -e /www', interval: '5s', retries: 4, timeout: '3s', start_period: '2s' },
  }),
  one('--health-interval', '5s', 'Config.Healthcheck', WITHIN),
  one('--health-retries', '4', 'Config.Healthcheck', WITHIN),
  one('--health-start-period', '2s', 'Config.Healthcheck', WITHIN),
  one('--health-timeout', '3s', 'Config.Healthcheck', WITHIN),
  one('--hostname', 'validator-1', 'Config.Hostname', { hostname: 'validator-1' }),
  flag('--init', 'HostConfig.Init', { init: true }),
  flag('--interactive', 'Config.OpenStdin', { stdin_open: true }),
  one('--ip', '10.91.0.77', 'Networks.chain-net.IPAMConfig', WITHIN),
  one('--ip6', 'fd00:91::77', 'Networks.chain-net.IPAMConfig', WITHIN),
  one('--ipc', 'shareable', 'HostConfig.IpcMode', { ipc: 'shareable' }),
  one('--label', 'own.label=me', 'Config.Labels', { labels: { 'own.label': 'me' } }),
  one('--label-file', '/srv/label', 'Config.Labels'),
  one('--link-local-ip', '169.254.7.7', 'Networks.chain-net.IPAMConfig', WITHIN),
  one('--log-driver', 'json-file', 'HostConfig.LogConfig', {
    logging: { driver: 'json-file', options: { 'max-size': '10m' } },
  }),
  one('--log-opt', 'max-size=10m', 'HostConfig.LogConfig', WITHIN),
  one('--mac-address', '02:42:0a:5b:00:4d', 'Config.MacAddress', { mac_address: '02:42:0a:5b:00:4d' }),
  one('--memory', '64m', 'HostConfig.Memory', { mem_limit: '64m' }),
  one('--memory-reservation', '32m', 'HostConfig.MemoryReservation', { mem_reservation: '32m' }),
  one('--memory-swap', '96m', 'HostConfig.MemorySwap', { memswap_limit: '96m' }),
  one('--memory-swappiness', '10', 'HostConfig.MemorySwappiness', { mem_swappiness: 10 }),
  one('--mount', 'type=volume,target=/nameless', 'Mounts./nameless'),
  one('--mount', 'type=bind,source=/srv/mount,target=/mounted,bind-propagation=rslave', 'Mounts./mounted'),
  one('--mount', 'type=tmpfs,target=/scratch,tmpfs-size=1m,tmpfs-mode=1770', 'HostConfig.Mounts'),
  one('--network', 'chain-net', 'HostConfig.NetworkMode', {
    networks: {
      'chain-net': {
        aliases: ['rpc'],
        ipv4_address: '10.91.0.77',
        ipv6_address: 'fd00:91::77',
        link_local_ips: ['169.254.7.7'],
      },
    },
  }),
  one('--network-alias', 'rpc', 'Networks.chain-net.Aliases', WITHIN),
  flag('--oom-kill-disable', 'HostConfig.OomKillDisable', { oom_kill_disable: true }),
  one('--oom-score-adj', '300', 'HostConfig.OomScoreAdj', { oom_score_adj: 300 }),
  one('--pids-limit', '100', 'HostConfig.PidsLimit', { pids_limit: 100 }),
  one('--publish', '18080:8080/tcp', 'HostConfig.PortBindings', { ports: ['18080:8080/tcp'] }),
  flag('--read-only', 'HostConfig.ReadonlyRootfs', { read_only: true }),
  one('--restart', 'on-failure:3', 'HostConfig.RestartPolicy', { restart: 'on-failure:3' }),
  one('--runtime', 'runc', 'HostConfig.Runtime', { runtime: 'runc' }),
  one('--security-opt', 'no-new-privileges', 'HostConfig.SecurityOpt', { security_opt: ['no-new-privileges'] }),
  one('--shm-size', '32m', 'HostConfig.ShmSize', { shm_size: '32m' }),
  one('--stop-signal', 'SIGINT', 'Config.StopSignal', { stop_signal: 'SIGINT' }),
  one('--stop-timeout', '77', 'Config.StopTimeout', { stop_grace_period: '77s' }),
  one('--sysctl', 'net.ipv4.ip_unprivileged_port_start=80', 'HostConfig.Sysctls', {
    sysctls: { 'net.ipv4.ip_unprivileged_port_start': '80' },
  }),
  one('--tmpfs', '/fast:size=1m', 'HostConfig.Tmpfs', { tmpfs: ['/fast:size=1m'] }),
  flag('--tty', 'Config.Tty', { tty: true }),
  one('--ulimit', 'nofile=512:1024', 'HostConfig.Ulimits', { ulimits: { nofile: { soft: 512, hard: 1024 } } }),
  one('--user', '0:2000', 'Config.User', { user: '0:2000' }),
  one('--volume', '/own-anonymous', 'Mounts./own-anonymous', {
    volumes: ['/own-anonymous', 'named:/named:nocopy', '/srv/ro:/ro:ro', '/srv/rw:/rw', '/srv/slave:/slave:rslave'],
  }),
  one('--volume', 'named:/named:nocopy', 'Mounts./named', WITHIN),
  one('--volume', '/srv/ro:/ro:ro', 'Mounts./ro', WITHIN),
  one('--volume', '/srv/rw:/rw', 'Mounts./rw', WITHIN),
  one('--volume', '/srv/slave:/slave:rslave', 'Mounts./slave', WITHIN),
  one('--volumes-from', 'neighbour', 'HostConfig.VolumesFrom', { volumes_from: ['container:neighbour'] }),
  one('--workdir', '/www', 'Config.WorkingDir', { working_dir: '/www' }),
];

/** On the default bridge, with what is only possible there or excludes something above. */
export const ON_THE_BRIDGE: readonly CoveredOption[] = [
  one('--cgroup-parent', '/GROUP/own', 'HostConfig.CgroupParent'),
  one('--cpu-period', '50000', 'HostConfig.CpuPeriod'),
  one('--cpu-quota', '20000', 'HostConfig.CpuQuota'),
  one('--link', 'neighbour:db', 'HostConfig.Links'),
  flag('--no-healthcheck', 'Config.Healthcheck'),
  flag('--publish-all', 'HostConfig.PublishAllPorts'),
  one('--restart', 'unless-stopped', 'HostConfig.RestartPolicy'),
  one('--volume-driver', 'local', 'HostConfig.VolumeDriver'),
];

/** In the host's own namespaces. */
export const ON_THE_HOST: readonly CoveredOption[] = [
  one('--ipc', 'host', 'HostConfig.IpcMode'),
  one('--network', 'host', 'HostConfig.NetworkMode'),
  one('--pid', 'host', 'HostConfig.PidMode'),
  one('--userns', 'host', 'HostConfig.UsernsMode'),
  one('--uts', 'host', 'HostConfig.UTSMode'),
];

/** Made and compared, but not started: the test machine forbids it or has no such hardware. */
export const NOT_STARTED: Readonly<Record<string, readonly CoveredOption[]>> = {
  'all rights': [flag('--privileged', 'HostConfig.Privileged')],
  'graphics cards': [one('--gpus', 'all', 'HostConfig.DeviceRequests')],
  'no network': [one('--network', 'none', 'HostConfig.NetworkMode')],
  'disk rates': [
    one('--blkio-weight-device', '/dev/null:200', 'HostConfig.BlkioWeightDevice'),
    one('--device-read-bps', '/dev/null:1mb', 'HostConfig.BlkioDeviceReadBps'),
    one('--device-read-iops', '/dev/null:100', 'HostConfig.BlkioDeviceReadIOps'),
    one('--device-write-bps', '/dev/null:1mb', 'HostConfig.BlkioDeviceWriteBps'),
    one('--device-write-iops', '/dev/null:100', 'HostConfig.BlkioDeviceWriteIOps'),
  ],
};

/** Options that leave no trace in a container, or can't be had on the test machine, and why. */
export const NOT_COVERED: Readonly<Record<string, string>> = {
  '--attach': 'of the client only',
  '--cidfile': 'a file that the client writes once',
  '--detach': 'of the client only',
  '--detach-keys': 'of the client only',
  '--disable-content-trust': 'of the client only',
  '--help': 'of the client only',
  '--name': 'the clone’s name is the container’s in every case',
  '--pull': 'of the client only',
  '--sig-proxy': 'of the client only',
  '--platform': 'chooses the image, which the manifest does here',
  '--rm': 'refused before the stop: nothing could be put back',
  '--isolation': 'Windows only',
  '--blkio-weight': 'the test machine’s kernel can’t; carried like every field of HostConfig',
  '--cpu-rt-period': 'the test machine’s kernel can’t; carried like every field of HostConfig',
  '--cpu-rt-runtime': 'the test machine’s kernel can’t; carried like every field of HostConfig',
  '--kernel-memory': 'the test machine’s kernel can’t; gone from newer engines',
  '--storage-opt': 'needs a quota on the engine’s file system; carried like every field of HostConfig',
};

function one(option: string, value: string, shownIn: string, compose?: CoveredOption['compose']): CoveredOption {
  return { option, arguments: [`${option}=${value}`], shownIn, ...(compose === undefined ? {} : { compose }) };
}

function flag(option: string, shownIn: string, compose?: CoveredOption['compose']): CoveredOption {
  return { option, arguments: [option], shownIn, ...(compose === undefined ? {} : { compose }) };
}
