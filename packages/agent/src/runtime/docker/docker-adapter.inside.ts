import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { serviceImage } from '@hoodcloud/testkit/docker-lab/service-image';
import { REGISTRY_ACCOUNT, type TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import type { RuntimeAdapter, WantedArtifact } from '../runtime-adapter.ts';
import { DockerAdapter } from './docker-adapter.ts';
import { Engine } from './engine.ts';
import { parsePinned } from './image-reference.ts';
import {
  containersOf,
  docker,
  makeContainer,
  release,
  SOCKET,
  startRegistry,
  type TestContainer,
} from './testing/test-container.ts';

const soon = () => AbortSignal.timeout(60_000);
const START = () => ({ signal: soon(), stableMs: 200 });
const acquiring = { signal: new AbortController().signal, backupDirs: [], onProgress: () => undefined };

let registry: TestRegistry;
let node: TestContainer;
let adapter: DockerAdapter;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());
beforeEach(async () => {
  node = await makeContainer(registry);
  adapter = node.adapter();
});
afterEach(() => node.dispose());

/** Everything up to the swap, as the actions do it: backup, image, hold, stop. */
async function upToStop(artifact: WantedArtifact, with_: RuntimeAdapter = adapter): Promise<void> {
  await with_.backupState(node.backupDir, [], soon());
  await with_.acquireArtifact(artifact, acquiring);
  await with_.hold();
  await with_.stop(soon());
}

async function swapTo(artifact: WantedArtifact, with_: RuntimeAdapter = adapter): Promise<void> {
  const handle = await with_.findAcquiredArtifact(artifact);
  if (handle === null) throw new Error('it was not acquired');
  await with_.installArtifact(handle, node.backupDir, soon());
}

/** Names, ids, states and restart policies of all containers of the service. */
async function shown(): Promise<Record<string, { id: string; running: boolean; policy: string }>> {
  const all = await containersOf(node.name);
  const entries = await Promise.all(
    all.map(async ({ Id, Names }) => {
      const { State, HostConfig } = await docker.getContainer(Id).inspect();
      const state = { id: Id, running: State.Running, policy: HostConfig.RestartPolicy?.Name ?? '' };
      return [(Names[0] ?? '').slice(1), state] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/** An engine whose agent is killed before its n-th order that changes something, or after it was carried out. */
class DeadlyEngine extends Engine {
  orders = 0;
  readonly #fatal: number;
  readonly #when: 'before' | 'after';

  constructor(fatal: number, when: 'before' | 'after') {
    super(SOCKET);
    this.#fatal = fatal;
    this.#when = when;
  }

  override async call<T>(...args: Parameters<Engine['call']>): Promise<T> {
    const changes = /^(make|rename|remove|start|stop|set) /.test(args[0]);
    const fatal = changes && ++this.orders === this.#fatal;
    if (fatal && this.#when === 'before') throw new Error('the agent was killed');
    const answer = await super.call(...args);
    if (fatal) throw new Error('the agent was killed');
    return answer as T;
  }
}

describe('a swap of containers', () => {
  it('keeps the old container, stopped and with its policy off, until it is confirmed (field-cases 66, 67)', async () => {
    await adapter.start(START());
    const old = (await shown())[node.name]?.id;
    const artifact = await node.offer('runs');
    await upToStop(artifact);
    await swapTo(artifact);
    await adapter.start(START());

    expect(await shown()).toEqual({
      [node.name]: { id: expect.not.stringMatching(old ?? '-'), running: true, policy: 'always' },
      [`${node.name}.bak`]: { id: old, running: false, policy: 'no' },
    });
    await adapter.confirm(node.backupDir);
    expect(Object.keys(await shown())).toEqual([node.name]);
    expect((await adapter.status()).runningChecksum).toBe(artifact.checksum);
  });

  const steps = [1, 2, 3, 4];
  it.each(['before', 'after'] as const)(
    'goes on, or goes back, from wherever an agent was killed %s one of its orders (field-case 73, A2)',
    async (when) => {
      const artifact = await node.offer('runs');
      await adapter.start(START());
      const old = (await shown())[node.name]?.id;
      await upToStop(artifact);
      for (const way of ['forward', 'back'] as const) {
        for (const step of steps) {
          const deadly = new DeadlyEngine(step, when);
          await swapTo(artifact, node.adapter(deadly)).catch((error) => {
            if (error.message !== 'the agent was killed') throw error;
          });
          const next = node.adapter();
          if (way === 'forward') {
            await swapTo(artifact, next);
            expect(await next.isArtifactInstalled(artifact.checksum)).toBe(true);
            expect(Object.keys(await shown()).sort()).toEqual([node.name, `${node.name}.bak`]);
          }
          const dying = new DeadlyEngine(step, when);
          await node
            .adapter(dying)
            .restoreArtifact(node.backupDir)
            .catch(() => undefined);
          await next.restoreArtifact(node.backupDir);
          expect(await shown()).toEqual({ [node.name]: { id: old, running: false, policy: 'no' } });
        }
      }
      await adapter.start(START());
      expect(await shown()).toEqual({ [node.name]: { id: old, running: true, policy: 'always' } });
    },
  );

  it('goes back after the engine itself was killed in the middle of it', async () => {
    const artifact = await node.offer('runs');
    await upToStop(artifact);
    await swapTo(artifact, node.adapter(new DeadlyEngine(2, 'after'))).catch(() => undefined); // the name stands for nothing
    await promisify(execFile)('systemctl', ['kill', '--signal', 'KILL', 'docker.service']);
    await vi.waitFor(() => docker.ping(), { timeout: 60_000 });

    expect(await adapter.status()).toMatchObject({ state: 'stopped', held: true, installedChecksum: null });
    await adapter.restoreArtifact(node.backupDir);
    expect((await adapter.status()).installedChecksum).toBe(node.installedChecksum);
    expect(Object.keys(await shown())).toEqual([node.name]);
    await swapTo(artifact);
    await adapter.start(START());
    expect((await adapter.status()).runningChecksum).toBe(artifact.checksum);
  });

  it('makes the old container anew from the backup when somebody has removed it', async () => {
    await adapter.start(START());
    const artifact = await node.offer('runs');
    await upToStop(artifact);
    await swapTo(artifact);
    await docker.getContainer(`${node.name}.bak`).remove();
    await adapter.restoreArtifact(node.backupDir);
    await node.adapter().restoreArtifact(node.backupDir);
    await adapter.start(START());
    expect((await adapter.status()).runningChecksum).toBe(node.installedChecksum);
    expect(await shown()).toMatchObject({ [node.name]: { running: true, policy: 'always' } });
  });

  it.each([
    ['.new', 'no'],
    ['.bak', 'always'],
  ])(
    'is refused before the stop where a %s that is not ours has the name, with the policy %s (A19, field-case 73)',
    async (suffix, Name) => {
      await adapter.start(START());
      const { Image } = await docker.getContainer(node.name).inspect();
      await docker.createContainer({ name: node.name + suffix, Image, HostConfig: { RestartPolicy: { Name } } });
      await expect(adapter.backupState(node.backupDir, [], soon())).rejects.toMatchObject({
        code: 'name_taken',
        message: expect.stringContaining(`${node.name}${suffix}`),
      });
      expect((await adapter.status()).state).toBe('running');
      expect(await adapter.isBackedUp(node.backupDir)).toBe(false);
    },
  );

  it('leaves nothing of a rehearsal in which the agent was killed, once it is undone (A10)', async () => {
    const artifact = await node.offer('runs');
    await adapter.backupState(node.backupDir, [], soon());
    const handle = await adapter.acquireArtifact(artifact, acquiring);
    await expect(node.adapter(new DeadlyEngine(1, 'after')).verifyArtifact(handle, soon())).rejects.toThrow('killed');
    expect(Object.keys(await shown())).toContain(`${node.name}.new`);
    await node.adapter().discardArtifact(artifact);
    expect(Object.keys(await shown())).toEqual([node.name]);
    expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
  });

  it('takes another name where an earlier attempt that nobody confirmed still has it', async () => {
    await upToStop(await node.offer('runs'));
    await swapTo(await acquired('runs'));
    node = { ...node, backupDir: join(dirname(node.backupDir), 'attempt-2') };
    await adapter.backupState(node.backupDir, [], soon());
    await swapTo(await acquired('runs'));
    expect(Object.keys(await shown()).sort()).toEqual([node.name, `${node.name}.bak`, `${node.name}.bak-2`]);
    await adapter.confirm(node.backupDir);
    expect(Object.keys(await shown())).toEqual([node.name]);
  });

  it('is refused before the stop where data would be lost (A14)', async () => {
    const careless = await makeContainer(registry, { AutoRemove: true, RestartPolicy: { Name: 'no' } });
    try {
      await expect(careless.adapter().backupState(careless.backupDir, [], soon())).rejects.toMatchObject({
        code: 'auto_remove',
      });
    } finally {
      await careless.dispose();
    }
  });

  async function acquired(behaviour: 'runs'): Promise<WantedArtifact> {
    const artifact = await node.offer(behaviour);
    await adapter.acquireArtifact(artifact, acquiring);
    return artifact;
  }
});

describe('a container', () => {
  it('that its operator stopped stays stopped, through an upgrade and the engine’s restart (field-case 74)', async () => {
    const stopped = await makeContainer(registry, { RestartPolicy: { Name: 'unless-stopped' } });
    const kept = node;
    node = stopped;
    try {
      const own = stopped.adapter();
      const container = docker.getContainer(stopped.name);
      await container.start();
      await container.stop();
      const artifact = await stopped.offer('runs');
      await upToStop(artifact, own);
      await swapTo(artifact, own);
      await own.release();
      expect(await own.status()).toMatchObject({ state: 'stopped', held: false, installedChecksum: artifact.checksum });

      await promisify(execFile)('systemctl', ['restart', 'docker.service']);
      await vi.waitFor(() => docker.ping(), { timeout: 60_000 });
      expect(await own.status()).toMatchObject({ state: 'stopped', wantedRunning: false });

      await container.start(); // the operator does it by hand, and has the policy of old again
      expect(await own.status()).toMatchObject({ state: 'running' });
      expect(await shown()).toMatchObject({ [stopped.name]: { policy: 'unless-stopped' } });
    } finally {
      node = kept;
      await stopped.dispose();
    }
  });

  it('is not started beside its .bak that somebody started (A19, field-case 137)', async () => {
    const artifact = await node.offer('runs');
    await upToStop(artifact);
    await swapTo(artifact);
    const old = docker.getContainer(`${node.name}.bak`);
    await old.update({ RestartPolicy: { Name: 'always' } });
    await old.start();
    await expect(adapter.start(START())).rejects.toMatchObject({
      code: 'fence_violated',
      message: expect.stringContaining('.bak still runs'),
    });
    expect(await node.livePids()).toHaveLength(1);
    await old.stop();
    await adapter.start(START());
    expect(await shown()).toMatchObject({ [`${node.name}.bak`]: { running: false, policy: 'no' } });
  });

  it('that ends while it is held and let go takes each order all the same, whatever the engine says to it (A18a)', async () => {
    for (let ends = 0; ends < 5; ends++) {
      await adapter.start(START());
      const run = (await docker.getContainer(node.name).inspect()).State;
      setTimeout(() => process.kill(run.Pid, 'SIGKILL'), 20); // somewhere in the middle of the orders that follow
      const seen = new Set<string>();
      for (let ended = false; !ended; ) {
        await adapter.hold();
        seen.add((await shown())[node.name]?.policy ?? '');
        await adapter.release();
        const { State, HostConfig } = await docker.getContainer(node.name).inspect();
        seen.add(HostConfig.RestartPolicy?.Name ?? '');
        ended = State.Pid !== run.Pid;
      }
      expect([...seen].sort()).toEqual(['always', 'no']);
      await adapter.hold();
      await adapter.stop(soon());
      expect(await node.livePids()).toEqual([]);
    }
  });

  it('that is stopping is waited for, though the agent that asked it died before it could ask', async () => {
    const artifact = await node.offer('slow_to_stop');
    await upToStop(artifact);
    await swapTo(artifact);
    await adapter.start(START());
    await adapter.hold();
    await expect(node.adapter(new DeadlyEngine(1, 'before')).stop(soon())).rejects.toThrow('the agent was killed');
    const next = node.adapter();
    expect((await next.status()).state).toBe('stopping');
    await node.letStop();
    await next.waitUntilGone(soon());
    expect(await node.livePids()).toEqual([]);
  });

  it('that only its run before was told to stop, in the same second, is told before it is waited for (A7)', async () => {
    await adapter.start(START());
    const seconds = async () => {
      const { StartedAt, FinishedAt } = (await docker.getContainer(node.name).inspect()).State;
      return [StartedAt, FinishedAt].map((time) => Math.floor(Date.parse(time) / 1000));
    };
    for (let [started, ended] = await seconds(); started !== ended; [started, ended] = await seconds()) {
      await adapter.hold();
      await adapter.stop(soon());
      await adapter.start({ signal: soon(), stableMs: 1 });
    }
    await adapter.hold();
    await expect(node.adapter(new DeadlyEngine(1, 'before')).stop(soon())).rejects.toThrow('the agent was killed');
    await node.adapter().waitUntilGone(soon());
    expect(await node.livePids()).toEqual([]);
  });

  it('says why it could not be started, in the engine’s words', async () => {
    const broken = { ...serviceImage({ version: 'broken' }), config: { Cmd: ['/bin/nothing-there'] } };
    const url = await registry.push('node:latest', broken);
    const artifact = { name: 'node', url, checksum: parsePinned(url)?.digest ?? '', member: null };
    await upToStop(artifact);
    await swapTo(artifact);
    await expect(adapter.start(START())).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringContaining('nothing-there'),
    });
  });

  it('that is not there is named, with where to look', async () => {
    const other = new DockerAdapter(
      { binaryName: 'x', container: 'no-such-node', configRoots: [], stateDir: join(node.folder, 'x') },
      { engine: new Engine(SOCKET), hashes: new FileHashes() },
    );
    await expect(other.status()).rejects.toMatchObject({
      code: 'container_not_found',
      message: expect.stringContaining('no-such-node'),
    });
  });
});

describe('an image', () => {
  it('for another platform is refused before the stop, whichever way it comes (field-case 35)', async () => {
    const foreign = process.arch === 'x64' ? 'arm64' : 'amd64';
    const single = await release(registry, 'runs', foreign);
    const handle = await adapter.acquireArtifact(single, acquiring);
    await expect(adapter.verifyArtifact(handle, soon())).rejects.toMatchObject({ code: 'wrong_platform' });

    const url = await registry.pushList('list:v1', [{ ...serviceImage({ version: 'v1' }), architecture: foreign }]);
    const list = { name: 'node', url, checksum: parsePinned(url)?.digest ?? '', member: null };
    await expect(adapter.acquireArtifact(list, acquiring)).rejects.toMatchObject({ code: 'wrong_platform' });
  });

  it('of a list is taken for this host’s platform, and known by the digest of the list', async () => {
    const images = ['amd64', 'arm64'].map((architecture) => serviceImage({ version: 'v2', architecture }));
    const url = await registry.pushList('list:v2', images);
    const list = { name: 'node', url, checksum: parsePinned(url)?.digest ?? '', member: null };
    await upToStop(list);
    await adapter.verifyArtifact((await adapter.findAcquiredArtifact(list)) ?? fail(), soon());
    await swapTo(list);
    expect((await adapter.status()).installedChecksum).toBe(list.checksum);
  });

  it('that the registry does not have fails at once and leaves nothing (field-case 35)', async () => {
    const { url } = await node.offer('runs');
    const checksum = `sha256:${'0'.repeat(64)}`;
    const unknown = { name: 'node', url: `${url.split('@')[0]}@${checksum}`, checksum, member: null };
    await expect(adapter.acquireArtifact(unknown, acquiring)).rejects.toMatchObject({ code: 'image_unknown' });
    await adapter.discardArtifact(unknown);
  });

  it('that is here is not pulled: a rollback needs no registry (A12a, field-case 98)', async () => {
    const artifact = await node.offer('runs');
    await adapter.acquireArtifact(artifact, acquiring);
    await registry.stop();
    try {
      for (const url of [artifact.url, '', `gone.example/node@${artifact.checksum}`]) {
        const handle = await adapter.acquireArtifact({ ...artifact, url }, acquiring);
        expect(handle).toMatchObject({ installedChecksum: artifact.checksum });
      }
      const elsewhere = await node
        .adapter()
        .acquireArtifact({ ...artifact, url: '', checksum: `sha256:${'1'.repeat(64)}` }, acquiring)
        .catch((error) => error);
      expect(elsewhere).toMatchObject({ code: 'artifact_unavailable' });
    } finally {
      await registry.start();
    }
  });

  it('is removed again only when this agent has pulled it and no container needs it', async () => {
    const mine = await node.offer('runs');
    await adapter.acquireArtifact(mine, acquiring);
    const { Config } = await docker.getContainer(node.name).inspect();
    const running = { name: 'node', url: Config.Image, checksum: node.installedChecksum, member: null };
    await adapter.discardArtifact(mine);
    await adapter.discardArtifact(running);
    expect(await adapter.findAcquiredArtifact(mine)).toBeNull();
    expect(await adapter.findAcquiredArtifact(running)).not.toBeNull();
  });
});

describe('a registry', () => {
  let closed: TestRegistry;
  beforeAll(async () => {
    closed = await startRegistry(true);
  });
  afterAll(() => closed.stop());

  const withConfig = async (config: object) => {
    const file = join(node.folder, 'docker', 'config.json');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(config));
    return new DockerAdapter(
      { binaryName: node.name, container: node.name, configRoots: [], stateDir: join(node.folder, 'state') },
      {
        engine: new Engine(SOCKET),
        hashes: new FileHashes(),
        dockerConfig: file,
        backoff: { firstMs: 1, capMs: 1, tooManyMs: 1500, tries: 3 },
      },
    );
  };

  it('that wants credentials gets the host’s own, and without them says so at once', async () => {
    const artifact = await release(closed, 'runs');
    const none = await withConfig({});
    await expect(none.acquireArtifact(artifact, acquiring)).rejects.toMatchObject({ code: 'registry_refused' });

    const auth = Buffer.from(`${REGISTRY_ACCOUNT.username}:${REGISTRY_ACCOUNT.password}`).toString('base64');
    const written = await withConfig({ auths: { [closed.address]: { auth } } });
    expect(await written.acquireArtifact(artifact, acquiring)).toMatchObject({ location: artifact.url });
  });

  it('gets credentials from a helper, when the host keeps them in one', async () => {
    const helper = '/usr/local/bin/docker-credential-lab';
    await mkdir(dirname(helper), { recursive: true });
    const answer = JSON.stringify({ Username: REGISTRY_ACCOUNT.username, Secret: REGISTRY_ACCOUNT.password });
    const missing = 'echo "credentials not found in native keychain"; exit 1';
    await writeFile(
      helper,
      `#!/bin/sh\nread server\nif [ "$server" = "${closed.address}" ]; then echo '${answer}'; else ${missing}; fi\n`,
    );
    await chmod(helper, 0o755);
    const artifact = await release(closed, 'runs');
    for (const config of [{ credHelpers: { [closed.address]: 'lab' } }, { credsStore: 'lab' }]) {
      const asked = await withConfig(config);
      expect(await asked.acquireArtifact(artifact, acquiring)).toMatchObject({ location: artifact.url });
      await asked.discardArtifact(artifact);
    }
  });

  it('that is overrun is left in peace before it is asked again, for no more than before (field-case 36)', async () => {
    const artifact = await node.offer('runs');
    const asked: { path: string; at: number }[] = [];
    const proxy = await overrun(registry.address, asked);
    try {
      const url = artifact.url.replace(registry.address, `127.0.0.1:${(proxy.address() as AddressInfo).port}`);
      const patient = await withConfig({});
      await patient.acquireArtifact({ ...artifact, url }, acquiring);
      const manifests = asked.filter(({ path }) => path.includes('/manifests/'));
      const refused = manifests.findIndex(
        (_, index) => (manifests[index + 1]?.at ?? 0) - (manifests[index]?.at ?? 0) >= 1400,
      );
      expect(refused).toBeGreaterThanOrEqual(0);
      expect(new Set(manifests.map(({ path }) => path))).toEqual(new Set([`/v2/node/manifests/${artifact.checksum}`]));
    } finally {
      await new Promise((done) => proxy.close(done));
    }
  });
});

/** Stands before a registry and answers the first requests for a manifest with 429. */
async function overrun(registryAddress: string, asked: { path: string; at: number }[]): Promise<Server> {
  let refusals = 0;
  const proxy = createServer((incoming, answer) => {
    const path = incoming.url ?? '';
    asked.push({ path, at: performance.now() });
    if (path.includes('/manifests/') && refusals++ < 2) {
      const errors = [{ code: 'TOOMANYREQUESTS', message: 'You have reached your pull rate limit' }];
      answer.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' }).end(JSON.stringify({ errors }));
      return;
    }
    const forwarded = request(
      `http://${registryAddress}${path}`,
      { method: incoming.method, headers: incoming.headers },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      },
    );
    incoming.pipe(forwarded);
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  return proxy;
}

function fail(): never {
  throw new Error('it is not here');
}
