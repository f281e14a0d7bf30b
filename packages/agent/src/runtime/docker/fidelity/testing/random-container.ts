import fc from 'fast-check';

/** What random containers may refer to; all of it exists on the engine before the first one is made. */
export interface Surroundings {
  /** A user-defined network with subnet 10.90.0.0/24, and another one. */
  readonly network: string;
  readonly otherNetwork: string;
  /** A container that runs, with a volume at /shared. */
  readonly neighbour: string;
  readonly namedVolume: string;
}

/** The body of `POST /containers/create`, and networks that are joined after it. */
export interface RandomContainer {
  readonly body: Record<string, unknown>;
  readonly joins: readonly { readonly network: string; readonly endpoint: object }[];
}

const subset = <T>(...items: T[]) => fc.subarray(items, { minLength: 1 });
const some = (model: Record<string, fc.Arbitrary<unknown>>) => fc.record(model, { requiredKeys: [] });
const flag = fc.boolean();

/** Values that repeat or override what `IMAGE_DEFAULTS` has, and values of the operator's own. */
const config = some({
  Hostname: fc.constantFrom('node-1', 'a.b.example'),
  Domainname: fc.constant('example.org'),
  User: fc.constantFrom('app', '1000:2000', '0'),
  Tty: flag,
  OpenStdin: flag,
  StdinOnce: flag,
  AttachStdout: flag,
  Env: subset(
    'PATH=/bin',
    'PATH=/bin:/opt',
    'LEVEL=info',
    'LEVEL=debug',
    'LEVEL',
    'OWN=1',
    'OWN=2',
    'EMPTY=',
    'EQ=a=b c',
  ),
  WorkingDir: fc.constantFrom('/', '/work', '/data'),
  Labels: fc.dictionary(
    fc.constantFrom('maker', 'own', 'com.docker.compose.project'),
    fc.constantFrom('image', 'me', ''),
  ),
  ExposedPorts: fc.dictionary(fc.constantFrom('8080/tcp', '9000/tcp', '9000/udp'), fc.constant({})),
  Volumes: fc.dictionary(fc.constantFrom('/data', '/anonymous'), fc.constant({})),
  StopSignal: fc.constantFrom('SIGTERM', 'SIGINT', 'SIGQUIT'),
  StopTimeout: fc.integer({ min: 1, max: 900 }),
  Healthcheck: some({
    Test: fc.constantFrom(['NONE'], ['CMD', 'true'], ['CMD-SHELL', 'test -e /www']),
    Interval: fc.constantFrom(0, 5_000_000_000),
    Timeout: fc.constantFrom(0, 2_000_000_000),
    Retries: fc.integer({ min: 0, max: 5 }),
    StartPeriod: fc.constantFrom(0, 7_000_000_000),
  }),
});

const command = fc.oneof(
  fc.constant({}),
  fc.constant({ Cmd: ['/bin/app', 'own'] }),
  fc.constant({ Cmd: ['/bin/app'] }),
  fc.constant({ Entrypoint: ['/bin/sh'] }),
  fc.constant({ Entrypoint: ['/bin/sh', '-c'], Cmd: ['sleep 5'] }),
  fc.constant({ Entrypoint: ['/bin/start'] }),
  fc.constant({ Entrypoint: ['/bin/start'], Cmd: ['serve'] }),
  fc.constant({ Entrypoint: [''], Cmd: ['/bin/app'] }),
);

const ulimit = fc.record({
  Name: fc.constant('nofile'),
  Soft: fc.constant(512),
  Hard: fc.integer({ min: 512, max: 4096 }),
});
const device = { PathOnHost: '/dev/null', PathInContainer: '/dev/quiet', CgroupPermissions: 'rw' };
const rate = fc.constant([{ Path: '/dev/null', Rate: 1000 }]);

const hostConfig = some({
  CapAdd: subset('NET_ADMIN', 'SYS_PTRACE'),
  CapDrop: subset('CHOWN', 'MKNOD', 'ALL'),
  SecurityOpt: subset('no-new-privileges', 'label=disable', 'seccomp=unconfined'),
  Ulimits: fc.array(ulimit, { minLength: 1, maxLength: 1 }),
  Devices: fc.constant([device]),
  DeviceCgroupRules: fc.constant(['c 1:3 rw']),
  GroupAdd: subset('extra', '3000'),
  Dns: subset('10.90.0.1', '10.90.0.2'),
  DnsOptions: fc.constant(['ndots:2']),
  DnsSearch: fc.constant(['example.org']),
  ExtraHosts: subset('peer:10.90.0.3', 'gate:host-gateway'),
  Memory: fc.constantFrom(67_108_864, 134_217_728),
  MemoryReservation: fc.constant(33_554_432),
  MemorySwappiness: fc.integer({ min: 0, max: 100 }),
  CpuShares: fc.integer({ min: 2, max: 2048 }),
  CpusetCpus: fc.constant('0'),
  PidsLimit: fc.integer({ min: 50, max: 500 }),
  OomKillDisable: flag,
  OomScoreAdj: fc.integer({ min: -500, max: 500 }),
  BlkioDeviceReadBps: rate,
  ShmSize: fc.constantFrom(33_554_432, 134_217_728),
  Sysctls: fc.constant({ 'net.ipv4.ip_unprivileged_port_start': '0' }),
  Init: flag,
  ReadonlyRootfs: flag,
  CgroupnsMode: fc.constantFrom('private', 'host'),
  PidMode: fc.constantFrom('host', ''),
  IpcMode: fc.constantFrom('shareable', 'private', 'host', 'none'),
  CgroupParent: fc.constant('/own-parent'),
  MaskedPaths: subset('/proc/kcore', '/proc/keys'),
  ReadonlyPaths: fc.constant(['/proc/bus']),
  StorageOpt: fc.constant({}),
  PublishAllPorts: flag,
  PortBindings: fc.dictionary(
    fc.constantFrom('8080/tcp', '9000/udp'),
    fc.constantFrom([{ HostIp: '127.0.0.1', HostPort: '18080' }], [{ HostPort: '' }]),
  ),
  LogConfig: fc.constantFrom(
    { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
    { Type: 'local', Config: {} },
    { Type: 'none', Config: {} },
  ),
  RestartPolicy: fc.constantFrom(
    { Name: 'always' },
    { Name: 'unless-stopped' },
    { Name: 'on-failure', MaximumRetryCount: 3 },
  ),
});

const limits = fc.constantFrom({}, { NanoCpus: 500_000_000 }, { CpuPeriod: 50_000, CpuQuota: 20_000 });

function mounts({ namedVolume, neighbour }: Surroundings): fc.Arbitrary<Record<string, unknown>> {
  return some({
    Binds: subset(
      `${namedVolume}:/named`,
      '/srv/ro:/ro:ro',
      '/srv/rw:/rw/',
      '/srv/shared:/slave:rslave',
      'fresh:/fresh:nocopy',
    ),
    Mounts: subset(
      {
        Type: 'bind',
        Source: '/srv/mount',
        Target: '/mounted',
        ReadOnly: true,
        BindOptions: { Propagation: 'rshared' },
      },
      { Type: 'volume', Source: namedVolume, Target: '/again', VolumeOptions: { NoCopy: true, Labels: { a: 'b' } } },
      { Type: 'volume', Target: '/nameless' },
      { Type: 'tmpfs', Target: '/scratch', TmpfsOptions: { SizeBytes: 1_048_576, Mode: 0o1770 } },
    ),
    Tmpfs: fc.constant({ '/fast': 'size=1m,mode=1777', '/anonymous': '' }),
    VolumesFrom: fc.constantFrom([neighbour], [`${neighbour}:ro`]),
  });
}

function networks({ network, otherNetwork, neighbour }: Surroundings): fc.Arbitrary<Record<string, unknown>> {
  const endpoint = some({
    Aliases: subset('rpc', 'node'),
    IPAMConfig: fc.constantFrom({ IPv4Address: '10.90.0.77' }, { LinkLocalIPs: ['169.254.7.7'] }),
    Links: fc.constant([`${neighbour}:db`]),
    DriverOpts: fc.constant({ 'com.example.opt': 'x' }),
  });
  const mac = fc.constantFrom({}, { MacAddress: '02:42:0a:5a:00:4d' });
  const joins = fc.constantFrom([], [{ network: otherNetwork, endpoint: { Aliases: ['second'] } }]);
  const userDefined = fc.record({ endpoint, mac, joins }).map((chosen) => ({
    NetworkMode: network,
    config: { ...chosen.mac, NetworkingConfig: { EndpointsConfig: { [network]: chosen.endpoint } } },
    joins: chosen.joins,
  }));
  const bridge = fc
    .record({ mac, joins, links: fc.constantFrom({}, { Links: [`${neighbour}:db`] }) })
    .map((chosen) => ({
      NetworkMode: 'bridge',
      config: chosen.mac,
      joins: chosen.joins,
      ...chosen.links,
    }));
  const solitary = fc
    .constantFrom({ NetworkMode: 'host' }, { NetworkMode: 'host', UTSMode: 'host' }, { NetworkMode: 'none' })
    .map((modes) => ({ ...modes, config: {}, joins: [] }));
  return fc.oneof(fc.constant({ config: {}, joins: [] }), userDefined, bridge, solitary);
}

/** Any container that the engine makes; combinations that it refuses are left out by `isPossible`. */
export function randomContainer(surroundings: Surroundings): fc.Arbitrary<RandomContainer> {
  return fc
    .record({ config, command, hostConfig, limits, mounts: mounts(surroundings), network: networks(surroundings) })
    .map((chosen) => {
      const {
        config: ofNetwork,
        joins,
        ...hostOfNetwork
      } = chosen.network as { config: object; joins: RandomContainer['joins'] };
      const HostConfig: Record<string, unknown> = {
        ...chosen.hostConfig,
        ...chosen.limits,
        ...chosen.mounts,
        ...hostOfNetwork,
      };
      return { body: { ...chosen.config, ...chosen.command, ...ofNetwork, HostConfig }, joins };
    })
    .map(possible);
}

/** Takes out what the engine refuses together with the rest. */
function possible({ body, joins }: RandomContainer): RandomContainer {
  const HostConfig = { ...(body.HostConfig as Record<string, unknown>) };
  const { Memory, MemoryReservation, NetworkMode } = HostConfig;
  if (typeof MemoryReservation === 'number' && typeof Memory !== 'number') delete HostConfig.OomKillDisable;
  if (NetworkMode === 'host') for (const field of ['Sysctls', 'PortBindings', 'Links']) delete HostConfig[field];
  const ofConfig = { ...body };
  if (HostConfig.UTSMode === 'host') for (const field of ['Hostname', 'Domainname']) delete ofConfig[field];
  return { body: { ...ofConfig, HostConfig }, joins };
}
