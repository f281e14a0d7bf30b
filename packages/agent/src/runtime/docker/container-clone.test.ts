import { describe, expect, it } from 'vitest';
import { cloneOf } from './container-clone.ts';
import type { ContainerConfig, ContainerInspect } from './container-inspect.ts';
import { containerInspect, imageInspect } from './test-inspect.ts';

const clone = (container: ContainerInspect, image: ContainerConfig = {}) =>
  cloneOf({ container, oldImage: imageInspect(image), image: 'node:v2' });
const created = (container: ContainerInspect, image: ContainerConfig = {}) =>
  clone(container, image).create as unknown as Record<string, unknown> & { HostConfig: Record<string, unknown> };

describe('what is the image’s own', () => {
  const image: ContainerConfig = {
    Env: ['PATH=/bin', 'LEVEL=info'],
    Labels: { maker: 'them' },
    Cmd: ['serve'],
    Entrypoint: ['/start'],
    Volumes: { '/data': {} },
    ExposedPorts: { '8080/tcp': {} },
    WorkingDir: '/work',
    User: 'app',
    StopSignal: 'SIGINT',
    Healthcheck: { Test: ['CMD', 'old'], Interval: 5 },
  };

  it('is left to the next image (A14)', () => {
    const sent = created(containerInspect({ Config: image }), image);
    expect(sent).toMatchObject({ Image: 'node:v2', name: 'node', Labels: {} });
    for (const field of Object.keys(image)) if (field !== 'Labels') expect(sent).not.toHaveProperty(field);
  });

  it('is told from the operator’s by its value, entry by entry', () => {
    const Config: ContainerConfig = {
      ...image,
      Env: ['LEVEL=debug', 'OWN=1', 'PATH=/bin'],
      Labels: { maker: 'them', 'com.docker.compose.project': 'fleet', empty: '' },
      Volumes: { '/data': {}, '/mine': {} },
      ExposedPorts: { '8080/tcp': {}, '9000/tcp': {} },
      User: '1000',
      Healthcheck: { Test: ['CMD', 'old'], Interval: 7 },
    };
    expect(created(containerInspect({ Config }), image)).toMatchObject({
      Env: ['LEVEL=debug', 'OWN=1'],
      Labels: { 'com.docker.compose.project': 'fleet', empty: '' },
      Volumes: { '/mine': {} },
      ExposedPorts: { '9000/tcp': {} },
      User: '1000',
      Healthcheck: { Interval: 7 },
    });
  });

  it.each<[string, ContainerConfig, ContainerConfig]>([
    ['a command of their own', { Entrypoint: ['/start'], Cmd: ['mine'] }, { Cmd: ['mine'] }],
    ['an entrypoint, which drops the image’s command', { Entrypoint: ['/mine'], Cmd: null }, { Entrypoint: ['/mine'] }],
    [
      'the image’s own entrypoint, without its command',
      { Entrypoint: ['/start'], Cmd: null },
      { Entrypoint: ['/start'] },
    ],
    ['no entrypoint at all', { Entrypoint: null, Cmd: ['serve'] }, { Entrypoint: [''], Cmd: ['serve'] }],
  ])('keeps %s', (_, given, sent) => {
    const { Cmd, Entrypoint } = created(containerInspect({ Config: { ...image, ...given } }), image);
    expect({ Cmd, Entrypoint }).toEqual({ Cmd: undefined, Entrypoint: undefined, ...sent });
  });

  it('keeps a published port exposed although only the old image exposes it', () => {
    const HostConfig = { PortBindings: { '8080/tcp': [{ HostPort: '80' }] } };
    const { ExposedPorts } = created(containerInspect({ Config: image, HostConfig }), image);
    expect(ExposedPorts).toEqual({ '8080/tcp': {} });
  });
});

describe('mounts', () => {
  const volume = (Name: string, Destination: string) => ({
    ...{ Type: 'volume', Name, Source: `/var/lib/docker/volumes/${Name}/_data`, Destination },
    ...{ Driver: 'local', Mode: '', RW: true, Propagation: '' },
  });

  it('names anonymous volumes, of the image, of -v and of --mount, so that their data come along (A14)', () => {
    const { HostConfig } = created(
      containerInspect({
        Mounts: [volume('one', '/data'), volume('two', '/mine'), volume('three', '/named'), volume('four', '/asked')],
        Config: { Volumes: { '/data': {}, '/mine': {} } },
        HostConfig: { Binds: ['three:/named/:nocopy'], Mounts: [{ Type: 'volume', Target: '/asked' }] },
      }),
    );
    expect(HostConfig).toMatchObject({
      Binds: ['three:/named/:nocopy', 'one:/data', 'two:/mine'],
      Mounts: [{ Type: 'volume', Target: '/asked', Source: 'four' }],
    });
  });

  it('names what came by volumes-from: the data set in use now, not the one the source has by then (field-case 76)', () => {
    const shared = { ...volume('theirs', '/shared'), RW: false };
    const bind = { ...shared, Type: 'bind', Source: '/srv', Destination: '/srv', Propagation: 'rslave', RW: true };
    const { HostConfig } = created(
      containerInspect({ Mounts: [shared, bind], HostConfig: { VolumesFrom: ['other:ro'] } }),
    );
    expect(HostConfig).toMatchObject({
      VolumesFrom: ['other:ro'],
      Binds: ['theirs:/shared:ro', '/srv:/srv:rslave'],
    });
  });
});

describe('networks', () => {
  const net = (parts: object = {}) => ({
    ...{ NetworkID: 'c'.repeat(64), IPAddress: '10.0.0.9', MacAddress: '02:42:0a:00:00:09' },
    ...parts,
  });

  it('keeps a fixed address, aliases and a MAC of the operator’s (field-case 69)', () => {
    const container = containerInspect({
      Config: { MacAddress: '02:00:00:00:00:01' },
      HostConfig: { NetworkMode: 'chain' },
      NetworkSettings: {
        Networks: { chain: net({ IPAMConfig: { IPv4Address: '10.0.0.9' }, Aliases: ['rpc', '5299dbf62c13'] }) },
      },
    });
    expect(created(container)).toMatchObject({
      MacAddress: '02:00:00:00:00:01',
      NetworkingConfig: {
        EndpointsConfig: {
          chain: { IPAMConfig: { IPv4Address: '10.0.0.9' }, Aliases: ['rpc'], MacAddress: '02:00:00:00:00:01' },
        },
      },
    });
  });

  it('carries no address and no MAC that the engine made up (field-case 70)', () => {
    const container = containerInspect({
      HostConfig: { NetworkMode: 'chain' },
      NetworkSettings: { Networks: { chain: net(), second: net({ NetworkID: 'd'.repeat(64) }) } },
    });
    const made = clone(container);
    expect(made.create).not.toHaveProperty('MacAddress');
    expect(made.create.NetworkingConfig).toEqual({ EndpointsConfig: { chain: {} } });
    expect(made.connect).toEqual([{ network: 'd'.repeat(64), endpoint: {} }]);
  });

  it('gives no aliases and no addresses to the default bridge, as main network and as a further one (field-case 71)', () => {
    const bridge = net({ Aliases: ['rpc'], IPAMConfig: {} });
    const alone = clone(containerInspect({ NetworkSettings: { Networks: { bridge } } }));
    expect(alone.create).not.toHaveProperty('NetworkingConfig');
    const HostConfig = { NetworkMode: 'chain' };
    const both = clone(containerInspect({ HostConfig, NetworkSettings: { Networks: { chain: net(), bridge } } }));
    expect(both.connect).toEqual([{ network: 'c'.repeat(64), endpoint: {} }]);
  });

  it('takes the clone off a network that the container had been taken off', () => {
    const HostConfig = { NetworkMode: 'chain' };
    const made = clone(containerInspect({ HostConfig, NetworkSettings: { Networks: { second: net() } } }));
    expect(made.disconnect).toEqual(['chain']);
    expect(made.connect).toHaveLength(1);
  });

  it('leaves host name and networks alone where they are another container’s', () => {
    const HostConfig = { NetworkMode: 'container:abc' };
    const made = clone(
      containerInspect({ HostConfig, Config: { Hostname: 'theirs' }, NetworkSettings: { Networks: {} } }),
    );
    expect(made).toMatchObject({ connect: [], disconnect: [] });
    expect(made.create).not.toHaveProperty('Hostname');
  });
});

describe('the rest', () => {
  it('sends no host name with the host’s UTS namespace, where the engine refuses one', () => {
    const made = clone(
      containerInspect({ Config: { Hostname: 'machine' }, HostConfig: { UTSMode: 'host', NetworkMode: 'host' } }),
    );
    expect(made.create).not.toHaveProperty('Hostname');
  });

  it('sets the restart policy aside: the engine must not start the clone by itself (A14)', () => {
    const made = clone(containerInspect());
    expect(made.create.HostConfig?.RestartPolicy).toEqual({ Name: 'no', MaximumRetryCount: 0 });
    expect(made.restartPolicy).toEqual({ Name: 'always', MaximumRetryCount: 0 });
  });

  it('keeps a host name only when somebody chose it', () => {
    expect(created(containerInspect())).not.toHaveProperty('Hostname');
    expect(created(containerInspect({ Config: { Hostname: 'validator-1' } }))).toHaveProperty(
      'Hostname',
      'validator-1',
    );
  });

  it('carries fields that this agent has never heard of', () => {
    const sent = created(containerInspect({ Config: { FutureField: [1] }, HostConfig: { FutureLimit: { a: 2 } } }));
    expect(sent).toMatchObject({ FutureField: [1], HostConfig: { FutureLimit: { a: 2 } } });
  });

  it('takes what Podman shows in its own words: limits by their long names, the id as HOSTNAME, its default network', () => {
    const container = containerInspect({
      Config: { Env: ['HOSTNAME=5299dbf62c13', 'OWN=1'] },
      HostConfig: { NetworkMode: 'bridge', Ulimits: [{ Name: 'RLIMIT_NOFILE', Soft: 1, Hard: 2 }] },
      NetworkSettings: { Networks: { podman: { NetworkID: 'podman', Aliases: ['5299dbf62c13'] } } },
    });
    const made = clone(container);
    expect(made).toMatchObject({ connect: [], disconnect: [] });
    expect(made.create).toMatchObject({
      Env: ['OWN=1'],
      HostConfig: { Ulimits: [{ Name: 'nofile', Soft: 1, Hard: 2 }] },
    });
  });

  it('gives legacy links the form that the engine takes, also after the old one was renamed', () => {
    expect(created(containerInspect({ HostConfig: { Links: ['/db:/node.bak/store'] } })).HostConfig.Links).toEqual([
      'db:store',
    ]);
  });

  it('adds the agent’s labels and leaves those of an earlier upgrade behind', () => {
    const container = containerInspect({ Config: { Labels: { 'own.attempt': '1', theirs: 'x' } } });
    const request = { container, oldImage: imageInspect(), image: 'node:v2', labels: { 'own.attempt': '2' } };
    expect(cloneOf({ ...request, ownLabelPrefix: 'own.' }).create.Labels).toEqual({ theirs: 'x', 'own.attempt': '2' });
    expect(cloneOf({ ...request, labels: {}, ownLabelPrefix: 'own.' }).create.Labels).toEqual({ theirs: 'x' });
  });
});
