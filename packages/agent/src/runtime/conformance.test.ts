import { afterAll, describe, expect, it } from 'vitest';
import { RUNTIME_CONTRACT } from './conformance.ts';
import { setScene } from './contract/contract-scene.ts';
import type { FakeHost } from './fake/fake-host.ts';
import { FakeRuntime } from './fake/fake-runtime.ts';
import { type RuntimeAdapter, RuntimeError, type RuntimeStatus } from './runtime-adapter.ts';
import { makeFakeService } from './testing/fake-service.ts';

/** How much an adapter may do wrong: methods in place of the right ones. */
type Wrong = (host: FakeHost, right: FakeRuntime) => Partial<RuntimeAdapter>;

const PATIENCE_MS = 150;
const SENTENCES = Object.entries(RUNTIME_CONTRACT).flatMap(([subject, sentences]) =>
  sentences.map(({ says, holds }) => ({ says: `${subject} ${says}`, holds })),
);

/** `status()` with something said wrong. */
const saying =
  (wrong: (status: RuntimeStatus, host: FakeHost) => Partial<RuntimeStatus>): Wrong =>
  (host, right) => ({
    status: async () => {
      const status = await right.status();
      return { ...status, ...wrong(status, host) };
    },
  });
const nothing = async () => undefined;

/** Each row breaks one thing that the contract says, and names a sentence that must find it. */
const BREAKS: readonly (readonly [what: string, found: string, wrong: Wrong])[] = [
  ['a service is always wanted', 'the service is stopped and not wanted', saying(() => ({ wantedRunning: true }))],
  [
    'what runs is told from what is installed',
    'the artifact runs only after',
    saying(({ installedChecksum }) => ({ runningChecksum: installedChecksum })),
  ],
  ['what runs is never told', 'the service runs the installed artifact', saying(() => ({ runningChecksum: null }))],
  [
    'a pid is made up',
    'the service runs the installed artifact',
    saying(({ mainPid }) => ({ mainPid: mainPid && mainPid + 1 })),
  ],
  ['restarts are not counted', 'the service comes back by itself after a crash', saying(() => ({ restarts: 0 }))],
  [
    'a crashed service is called stopped',
    'the service is wanted running while it waits',
    saying(({ state }) => (state === 'waiting_restart' ? { state: 'stopped', wantedRunning: false } : {})),
  ],
  [
    'a stopping service is called running',
    'the service is never killed',
    saying(({ state }) => (state === 'stopping' ? { state: 'running' } : {})),
  ],
  [
    'a second instance is started',
    'the service is not started twice',
    (host, right) => ({
      start: async (options) => {
        if (host.process !== null) host.process = { ...host.process, pid: host.process.pid + 1 };
        await right.start(options);
      },
    }),
  ],
  [
    'a start that failed is called good',
    'the service says why a start failed',
    (_, right) => ({ start: (options) => right.start(options).catch(nothing) }),
  ],
  [
    'why a start failed is kept back',
    'the service says why a start failed',
    (_, right) => ({
      start: async (options) => {
        await right.start(options).catch(() => {
          throw new RuntimeError('start_failed', 'it did not work');
        });
      },
    }),
  ],
  [
    'the failures of before count against a start',
    'the service starts again after a failed start',
    (host, right) => ({
      start: async (options) => {
        if (host.restarts > 0 && host.process === null)
          throw new RuntimeError('start_failed', 'panic: start limit hit');
        await right.start(options);
      },
    }),
  ],
  [
    'a start leaves the hold',
    'the service starts again after a failed start',
    (host, right) => ({
      start: async (options) => {
        const { held } = host;
        await right.start(options).finally(() => {
          host.held = held;
        });
      },
    }),
  ],
  [
    'a start does not look for an earlier instance',
    'the service is not started beside an earlier instance',
    (host, right) => ({
      start: async (options) => {
        host.stopping = false;
        await right.start(options);
      },
    }),
  ],
  ['a stop does nothing', 'the service is gone after a stop', () => ({ stop: nothing })],
  [
    'a stop of a stopped service fails',
    'the service is gone after a stop',
    (host, right) => ({
      stop: async (signal) => {
        if (host.process === null) throw new Error('it does not run');
        await right.stop(signal);
      },
    }),
  ],
  [
    'a stop kills at the end of its budget',
    'the service is never killed',
    (host, right) => ({
      stop: async (signal) => {
        await right.stop(signal).finally(() => {
          host.process = null;
        });
      },
    }),
  ],
  [
    'an overrun is called a stop',
    'the service is never killed',
    (_, right) => ({ stop: (signal) => right.stop(signal).catch(nothing) }),
  ],
  ['nobody waits for the end', 'the service is never killed', () => ({ waitUntilGone: nothing })],
  [
    'the end of the waiting is the end of the process',
    'the service is waited for only as long as the signal',
    (host) => ({
      waitUntilGone: async () => {
        host.process = null;
        host.stopping = false;
      },
    }),
  ],
  [
    'an agent that starts starts the service',
    'the service is neither started nor stopped',
    (host) => ({
      prepare: async () => {
        if (host.process === null) host.spawn();
      },
    }),
  ],
  ['no log is shown', 'the service shows its last log lines', () => ({ logTail: async () => [] })],
  [
    'more of the log is shown than was asked for',
    'the service shows its last log lines',
    (host) => ({ logTail: async () => [...host.log, 'and more'] }),
  ],
  ['a hold is not set', 'the hold is shown', () => ({ hold: nothing })],
  [
    'a hold is a mark that keeps nothing down',
    'the hold keeps a service down',
    (host) => ({
      hold: async () => {
        host.log.push('held'); // the service manager never hears of it
      },
      ...saying(() => ({ held: host.log.includes('held') }))(host, new FakeRuntime(host)),
    }),
  ],
  ['a release does nothing', 'the hold is shown', () => ({ release: nothing })],
  ['an agent that leaves keeps the hold', 'the hold goes when the agent leaves', () => ({ leave: nothing })],
  [
    'an agent that leaves stops the service',
    'the hold goes when the agent leaves',
    (host, right) => ({
      leave: async () => {
        await right.leave();
        host.process = null;
      },
    }),
  ],
  [
    'what was acquired is forgotten',
    'the artifact is found again once acquired',
    () => ({ findAcquiredArtifact: async () => null }),
  ],
  ['what was discarded is found', 'the artifact is found again once acquired', () => ({ discardArtifact: nothing })],
  [
    'any content will do',
    'the artifact is refused when its checksum',
    (host) => ({
      acquireArtifact: async (artifact) => {
        host.acquired = artifact.checksum;
        return { artifact, location: '.download', installedChecksum: artifact.checksum };
      },
    }),
  ],
  [
    'a call whose time is up goes on',
    'the artifact is not fetched by a call',
    (_, right) => ({
      acquireArtifact: (artifact, options) =>
        right.acquireArtifact(artifact, { ...options, signal: new AbortController().signal }),
    }),
  ],
  [
    'everything is called right',
    'the artifact is not called right when it is gone',
    () => ({ verifyArtifact: nothing }),
  ],
  [
    'everything is called installed',
    'the artifact is installed once',
    () => ({ isArtifactInstalled: async () => true }),
  ],
  [
    'an install can be done once only',
    'the artifact is installed once',
    (host, right) => ({
      installArtifact: async (handle) => {
        if (host.installed === handle.installedChecksum) throw new Error('it is there');
        await right.installArtifact(handle);
      },
    }),
  ],
  ['a backup is always called whole', 'the backup is whole or not there', () => ({ isBackedUp: async () => true })],
  [
    'the damage of a backup is not seen',
    'the backup is whole or not there',
    (host) => ({ isBackedUp: async (dir) => host.backups.has(dir) }),
  ],
  [
    'a damaged backup is restored',
    'the backup is not used when it is damaged',
    (host) => ({
      restoreArtifact: async (dir) => {
        host.installed = host.backups.get(dir)?.installed ?? null;
      },
    }),
  ],
  ['nothing is restored', 'the backup brings back the artifact', () => ({ restoreArtifact: nothing })],
  [
    'kept backups are not looked at',
    'the backup gives an artifact without the network',
    (_, right) => ({
      acquireArtifact: (artifact, options) => right.acquireArtifact(artifact, { ...options, backupDirs: [] }),
    }),
  ],
  ['no backup is ever removed', 'the backup can be removed', () => ({ removeBackup: nothing })],
  [
    'a confirmation counts once',
    'the backup is confirmed any number of times',
    (host) => ({
      confirm: async () => {
        if (host.journal.includes('confirm')) throw new Error('it was confirmed');
        host.journal.push('confirm');
      },
    }),
  ],
  ['a config is not written', 'a config keeps its mode', () => ({ writeConfig: nothing })],
  [
    'a config that was new is kept',
    'a config is as it was after a restore',
    (host, right) => ({
      restoreConfig: async (dir, path) => {
        if (host.backups.get(dir)?.configs.get(path) !== null) await right.restoreConfig(dir, path);
      },
    }),
  ],
  ['a config is not put back', 'a config is as it was after a restore', () => ({ restoreConfig: nothing })],
  [
    'a config may be anywhere',
    'a config outside the configured roots',
    (host) => ({
      writeConfig: async (path, content) => {
        host.configs.set(path, Buffer.from(content).toString());
      },
    }),
  ],
];

const everFound = new Set<string>();

describe('an adapter is caught', () => {
  it.each(BREAKS)('of which %s', async (_, found, wrong) => {
    const red = await redSentences((host) => broken(host, wrong));
    for (const says of red) everFound.add(says);
    expect(red.filter((says) => says.startsWith(found))).toHaveLength(1);
  });

  it('which does nothing wrong is not', async () => {
    expect(await redSentences((host) => new FakeRuntime(host))).toEqual([]);
  });

  afterAll(() => {
    // a sentence that no break turns red would be one that judges nothing
    expect(SENTENCES.map(({ says }) => says).filter((says) => !everFound.has(says))).toEqual([]);
  });
});

/** The sentences that an adapter breaks. */
async function redSentences(adapterOn: (host: FakeHost) => RuntimeAdapter): Promise<string[]> {
  const judged = SENTENCES.map(async ({ says, holds }) => {
    try {
      const service = await makeFakeService(adapterOn);
      await holds(await setScene(service, service.adapter(), PATIENCE_MS));
      return [];
    } catch {
      return [says];
    }
  });
  return (await Promise.all(judged)).flat();
}

function broken(host: FakeHost, wrong: Wrong): RuntimeAdapter {
  const right = new FakeRuntime(host);
  const methods = wrong(host, right);
  return new Proxy(right, {
    get: (_, name) => {
      const method = Reflect.get(methods, name) ?? Reflect.get(right, name);
      return typeof method === 'function' && !Object.hasOwn(methods, name) ? method.bind(right) : method;
    },
  });
}
