import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  ArtifactKind,
  type CommandResult,
  CommandSchema,
  CommandType,
  Operation,
  Outcome,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf } from '../host/file-hash.ts';
import { FakeHost } from '../runtime/fake/fake-host.ts';
import { FakeRuntime, installedChecksumOf } from '../runtime/fake/fake-runtime.ts';
import { checksumsOf } from './attempt-result.ts';
import { AttemptStore } from './attempt-store.ts';
import { writeBackupManifest } from './backup-manifest.ts';
import { UpgradeHandler } from './upgrade-handler.ts';

const URL = 'https://releases/new';
const OLD = checksumOf('old binary');
const ATTEMPT = 'rollout.node.1';

let folder: string;
let host: FakeHost;
let target: string;
let now: number;
let results: CommandResult[];
let unreadable: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-handler-'));
  host = new FakeHost(OLD);
  host.configs.set('/etc/node/config.toml', 'peers = 10');
  host.wanted = true;
  host.spawn();
  host.journal.length = 0;
  target = host.publish(URL, 'new binary');
  now = 1_000_000;
  results = [];
  unreadable = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A new life of the agent on the same host and disk. */
async function agent(
  faultPoint: (name: string) => Promise<void> = async () => undefined,
  beforeCall: (method: string) => void = () => undefined,
) {
  const store = await AttemptStore.open(folder, (path) => unreadable.push(path));
  const environment = { store, log: pino({ level: 'silent' }), faultPoint, now: () => now };
  const component = { binaryName: 'node', dataDir: join(folder, 'data'), runtime: new FakeRuntime(host, beforeCall) };
  const handler = new UpgradeHandler(environment, [component], {
    onProgress: () => undefined,
    onResult: (result) => results.push(result),
  });
  return { handler, store };
}

/** An agent that is killed at a fault point: resolves when it stands still there. */
async function agentKilledAt(point: string, commandToRun: ReturnType<typeof command>): Promise<void> {
  await new Promise<void>((reached, failed) => {
    const faultPoint = async (name: string) => {
      if (name !== point) return;
      reached();
      await new Promise(() => undefined);
    };
    agent(faultPoint).then(async ({ handler }) => {
      await handler.handle(commandToRun);
      failed(new Error(`${point} was never reached`));
    }, failed);
  });
}

type Payload = Omit<MessageInitShape<typeof UpgradePayloadSchema>, '$typeName' | '$unknown'>;

function command(
  operation: Operation,
  payload: Partial<Payload> = {},
  { commandId = `command-${Operation[operation]}`, expiresInMs = 60_000, type = CommandType.UPGRADE } = {},
) {
  const upgrade: Payload = {
    attemptId: ATTEMPT,
    operation,
    upgradeId: 'v2',
    binaryName: 'node',
    artifact: { kind: ArtifactKind.FILE, url: URL, checksum: target },
    configFiles: [{ path: '/etc/node/config.toml', content: Buffer.from('peers = 100') }],
    ...payload,
  };
  return create(CommandSchema, {
    commandId,
    type,
    expiresInMs,
    upgrade: create(UpgradePayloadSchema, upgrade as MessageInitShape<typeof UpgradePayloadSchema>),
  });
}

const last = () => results.at(-1);

/** As on a disk that is full: the attempt's record can be read and not replaced. */
const fillDisk = () => mkdir(join(folder, 'attempts', `.${ATTEMPT}.json.hoodcloud-tmp`), { recursive: true });
const emptyDisk = () => rm(join(folder, 'attempts', `.${ATTEMPT}.json.hoodcloud-tmp`), { recursive: true });

describe('a member of an archive', () => {
  const artifact = () => ({ kind: ArtifactKind.FILE, url: URL, checksum: target, member: 'bin/node' });
  const upgrade = () => command(Operation.UPGRADE, { artifact: artifact() });
  const installed = () => installedChecksumOf({ checksum: target, member: 'bin/node' });

  it('is what is reported, recorded and proved to run: the archive has another checksum (A6)', async () => {
    const { handler, store } = await agent();
    await handler.handle(upgrade());
    expect(last()).toMatchObject({
      outcome: Outcome.COMPLETED,
      installedChecksum: installed(),
      runningChecksum: installed(),
    });
    expect((await store.load(ATTEMPT))?.progress.installedChecksum).toBe(installed());
    const installs = host.journal.filter((line) => line.startsWith('install'));
    await handler.handle(upgrade());
    expect(host.journal.filter((line) => line.startsWith('install'))).toEqual(installs);
  });

  it.each([
    'after:acquire_artifact',
    'before:verify_artifact',
    'before:install_artifact',
    'after:install_artifact',
    'before:start_node',
  ])('is gone on with by a restarted agent: killed %s', async (point) => {
    await agentKilledAt(point, upgrade());
    const { handler } = await agent();
    await handler.resume();
    await expect.poll(() => last()?.outcome, { timeout: 30_000 }).toBe(Outcome.COMPLETED);
    expect(last()).toMatchObject({ installedChecksum: installed(), runningChecksum: installed() });
  });

  it('is found in a backup by its own checksum: a way back needs no network (A12a)', async () => {
    const { handler } = await agent();
    await handler.handle(upgrade());
    const next = host.publish('https://releases/next', 'next binary');
    await handler.handle(
      command(
        Operation.UPGRADE,
        {
          attemptId: 'rollout.node.2',
          artifact: { kind: ArtifactKind.FILE, url: 'https://releases/next', checksum: next },
        },
        { commandId: 'command-next' },
      ),
    );
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, installedChecksum: next });
    await writeBackupManifestOf('rollout.node.2'); // the fake keeps its backups in memory
    host.downloads.clear();
    const back = { ...artifact(), installedChecksum: installed() };
    await handler.handle(
      command(Operation.UPGRADE, { attemptId: 'rollout.node.3', artifact: back }, { commandId: 'command-back' }),
    );
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: installed() });
  });

  it.each(['../node', '/bin/node', 'bin//node', 'bin\\node', './node'])('has no name such as "%s"', async (member) => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE, { artifact: { ...artifact(), member } }));
    expect(last()).toMatchObject({
      outcome: Outcome.REFUSED,
      errorMessage: expect.stringContaining('artifact.member'),
    });
    expect(host.journal).toEqual([]);
  });
});

describe('a rollback', () => {
  const back = (restoreAttemptId: string) =>
    command(
      Operation.UPGRADE,
      {
        attemptId: 'rollout.node.2',
        artifact: { kind: ArtifactKind.FILE, url: 'https://releases/old', checksum: OLD },
        configFiles: [
          { path: '/etc/node/config.toml', restoreAttemptId },
          { path: '/etc/node/new.toml', restoreAttemptId },
        ],
      },
      { commandId: 'command-back' },
    );

  it('puts configs back as the attempt found them, removes what was not there (C3)', async () => {
    const { handler } = await agent();
    host.publish('https://releases/old', 'old binary');
    const configFiles = ['config', 'new'].map((name) => ({
      path: `/etc/node/${name}.toml`,
      content: Buffer.from('peers = 100'),
    }));
    await handler.handle(command(Operation.UPGRADE, { configFiles }));
    await handler.handle(command(Operation.CONFIRM));
    await handler.handle(back(ATTEMPT));
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, installedChecksum: OLD, runningChecksum: OLD });
    expect(host.configs.get('/etc/node/config.toml')).toBe('peers = 10');
    expect(host.configs.has('/etc/node/new.toml')).toBe(false);
  });

  it('is refused before anything is stopped when the backup is gone', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    host.journal.length = 0;
    await handler.handle(back('rollout.node.0'));
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'backup_gone' });
    expect(host.journal).toEqual([]);
    expect(host.configs.get('/etc/node/config.toml')).toBe('peers = 100');
  });
});

describe('UPGRADE', () => {
  it('is told with what the host proves, and is on the disk before it is told', async () => {
    const { handler, store } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({
      commandId: 'command-UPGRADE',
      attemptId: ATTEMPT,
      operation: Operation.UPGRADE,
      outcome: Outcome.COMPLETED,
      installedChecksum: target,
      runningChecksum: target,
      leftStopped: false,
      configChecksums: { '/etc/node/config.toml': checksumOf('peers = 100') },
    });
    expect(last()?.steps.map(({ result }) => result)).toEqual(Array(8).fill('executed'));
    expect((await store.load(ATTEMPT))?.operations.UPGRADE).toMatchObject({ acknowledged: false });
  });

  it('is done once, however often the command comes (B1, field-case 136)', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    const done = [...host.journal];
    await handler.handle(command(Operation.UPGRADE));
    await (await agent()).handler.handle(command(Operation.UPGRADE));
    expect(host.journal).toEqual(done);
    expect(results.map(({ outcome }) => outcome)).toEqual([Outcome.COMPLETED, Outcome.COMPLETED, Outcome.COMPLETED]);
  });

  it('is done once per attempt, also under another command id (B2, field-case 116)', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    const done = [...host.journal];
    await handler.handle(command(Operation.UPGRADE, {}, { commandId: 'again' }));
    expect(host.journal).toEqual(done);
    expect(last()).toMatchObject({ commandId: 'again', outcome: Outcome.COMPLETED });
  });

  it('is done again when the host no longer shows what the record says (A5)', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    host.installed = OLD; // somebody put the old version back
    host.process = null;
    host.spawn();
    await handler.handle(command(Operation.UPGRADE, {}, { commandId: 'again' }));
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: target });
    expect(host.process).toMatchObject({ checksum: target });
  });

  it('that fails is told with the cause, the failed action and the log of the failed version (A18)', async () => {
    host.behaviours.set(target, 'crashes');
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({
      outcome: Outcome.ROLLED_BACK,
      errorCode: 'start_failed',
      failedAction: 'start_node',
      runningChecksum: OLD,
    });
    expect(last()?.logTail.at(-1)).toContain('panic');
    const kept = join(folder, 'data', '.upgrade-backup', ATTEMPT, 'failed-version.log');
    expect(await readFile(kept, 'utf8')).toContain('panic');
  });

  it('that was undone is told so by what runs, though a helper failed on the way (field-case 8)', async () => {
    host.behaviours.set(target, 'crashes');
    const { handler } = await agent(undefined, (method) => {
      if (method === 'logTail') throw new Error('journalctl is not there any more');
    });
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, runningChecksum: OLD, logTail: [] });
    expect(host.process?.checksum).toBe(OLD);
  });

  it('of a node that its operator had stopped leaves it stopped and says so (A3)', async () => {
    host.process = null;
    host.wanted = false;
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, leftStopped: true, installedChecksum: target });
    expect(host.process).toBeNull();
  });

  describe('does not overwrite what somebody edited on the host (E4, field-case 53):', () => {
    const path = '/etc/node/config.toml';
    const written = 'peers = 10\nseeds = ""\nprivate = "x"\n';
    const edit = (changes: object = {}, attemptId = 'rollout.node.2') => ({
      attemptId,
      configFiles: [{ path, content: Buffer.from('peers = 100\n'), lastWrittenChecksum: checksumOf(written) }],
      ...changes,
    });
    const edited = async () => {
      const { handler } = await agent();
      await handler.handle(command(Operation.UPGRADE, { configFiles: [{ path, content: Buffer.from(written) }] }));
      host.configs.set(path, written.replace('"x"', '"secret"'));
      host.journal.length = 0;
      now += 1000;
      return handler;
    };

    it('the upgrade ends before anything is stopped and says which lines, not what they hold (C12)', async () => {
      const handler = await edited();
      await handler.handle(command(Operation.UPGRADE, edit(), { commandId: 'next' }));
      expect(last()).toMatchObject({
        outcome: Outcome.ROLLED_BACK,
        errorCode: 'config_drift',
        errorMessage: expect.stringContaining('lines 3'),
        configDrifts: [{ path, places: '3', diff: [], overwritten: false }],
      });
      expect(host.journal).toEqual([]);
      expect(JSON.stringify(last())).not.toContain('secret');
      const kept = join(folder, 'data', '.upgrade-backup', 'rollout.node.2', 'drift', '1.diff');
      expect(await readFile(kept, 'utf8')).toBe(
        `--- ${path} as last written\n+++ ${path} on the host\n@@ -1,3 +1,3 @@\n peers = 10\n seeds = ""\n-private = "x"\n+private = "secret"\n`,
      );
      expect((await stat(kept)).mode & 0o777).toBe(0o600);
    });

    it('the diff travels when the chain allows it', async () => {
      const handler = await edited();
      await handler.handle(command(Operation.UPGRADE, edit({ showDrift: true }), { commandId: 'next' }));
      expect(last()?.configDrifts[0]?.diff.slice(-2)).toEqual(['-private = "x"', '+private = "secret"']);
    });

    it('unless told to, and says so then', async () => {
      const handler = await edited();
      await handler.handle(command(Operation.UPGRADE, edit({ driftPolicy: 2 }), { commandId: 'next' }));
      expect(last()).toMatchObject({
        outcome: Outcome.COMPLETED,
        configDrifts: [{ path, places: '3', diff: [], overwritten: true }],
      });
      expect(host.configs.get(path)).toBe('peers = 100\n');
    });

    it('what was last written is no longer known here: it says that the file was changed', async () => {
      const { handler } = await agent();
      await handler.handle(command(Operation.UPGRADE, edit()));
      expect(last()).toMatchObject({ errorCode: 'config_drift', configDrifts: [{ path, places: '', diff: [] }] });
      expect(host.journal).toEqual([]);
    });
  });

  it('with a config outside the roots touches nothing, and darkens no later look at the node (A9)', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE, { configFiles: [{ path: '/srv/x', content: new Uint8Array() }] }));
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'path_refused', configChecksums: {} });
    expect(host.journal).toEqual([]);
    expect(await checksumsOf(new FakeRuntime(host), handler.configPathsOf('node'))).toEqual({});
  });

  it('is told as it ended, though its record can no longer be written', async () => {
    const { handler, store } = await agent();
    const save = store.save.bind(store);
    store.save = async (record) => {
      if (record.operations.UPGRADE?.result) throw new Error('no space left on device');
      return save(record);
    };
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: target });
    await (await agent()).handler.resume(); // the next life finds it done and tells it again
    await expect.poll(() => results.length).toBe(2);
    expect(last()).toMatchObject({ outcome: Outcome.COMPLETED });
    expect(host.journal.filter((entry) => entry === 'stop')).toHaveLength(1);
  });

  it('keeps the backups that a way back needs, and no more than three others (A13)', async () => {
    host.behaviours.set(target, 'crashes');
    const { handler } = await agent();
    for (let attempt = 1; attempt <= 6; attempt++) {
      now += 1000;
      await handler.handle(
        command(Operation.UPGRADE, { attemptId: `rollout.node.${attempt}` }, { commandId: `c${attempt}` }),
      );
    }
    const kept = await readdir(join(folder, 'data', '.upgrade-backup'));
    expect(kept.sort()).toEqual(['rollout.node.4', 'rollout.node.5', 'rollout.node.6']);
  });

  it('begins only after the one before has ended: one at a time per component (A4)', async () => {
    const { handler } = await agent();
    await Promise.all([
      handler.handle(command(Operation.UPGRADE)),
      handler.handle(command(Operation.UPGRADE, { attemptId: 'rollout.node.2' }, { commandId: 'second' })),
    ]);
    expect(results.map(({ commandId }) => commandId)).toEqual(['command-UPGRADE', 'second']);
    expect(results.every(({ outcome }) => outcome === Outcome.COMPLETED)).toBe(true);
    expect(last()?.steps.find(({ actionName }) => actionName === 'install_artifact')?.result).toBe('already_done');
  });
});

describe('COMPENSATE', () => {
  it('undoes what the attempt did, and is done once (B2)', async () => {
    const before = host.snapshot();
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    await handler.handle(command(Operation.COMPENSATE));
    expect(last()).toMatchObject({
      operation: Operation.COMPENSATE,
      outcome: Outcome.ROLLED_BACK,
      runningChecksum: OLD,
    });
    expect(host.snapshot()).toBe(before);
    const done = [...host.journal];
    await handler.handle(command(Operation.COMPENSATE, {}, { commandId: 'again' }));
    expect(host.journal).toEqual(done);
    expect(last()).toMatchObject({ commandId: 'again', outcome: Outcome.ROLLED_BACK });
  });

  it('bars the same attempt from being upgraded again: a retry is a new attempt', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    await handler.handle(command(Operation.COMPENSATE));
    await handler.handle(command(Operation.UPGRADE, {}, { commandId: 'again' }));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'attempt_undone' });
  });

  it('is refused for an attempt that a later one has built on', async () => {
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    now += 1000;
    await handler.handle(command(Operation.UPGRADE, { attemptId: 'rollout.node.2' }, { commandId: 'second' }));
    await handler.handle(command(Operation.COMPENSATE));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'superseded' });
    expect(host.process?.checksum).toBe(target);
  });

  it('is refused for an attempt that never began here', async () => {
    await (await agent()).handler.handle(command(Operation.COMPENSATE));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'unknown_attempt' });
  });

  it('tries again an undo that had failed (field-case 8)', async () => {
    host.behaviours.set(target, 'crashes');
    host.behaviours.set(OLD, 'crashes'); // the old version doesn't come up either
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({ outcome: Outcome.FAILED_ROLLBACK, errorCode: 'start_failed' });
    expect(last()?.errorMessage).toContain('then the undo of stop_node failed');
    host.behaviours.set(OLD, 'runs');
    await handler.handle(command(Operation.COMPENSATE));
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, runningChecksum: OLD });
  });
});

describe('CONFIRM', () => {
  it('marks a completed attempt as good', async () => {
    const { handler, store } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    await handler.handle(command(Operation.CONFIRM));
    expect(last()).toMatchObject({ operation: Operation.CONFIRM, outcome: Outcome.COMPLETED });
    expect((await store.load(ATTEMPT))?.confirmed).toBe(true);
  });

  it.each(['empty again', 'full still'])(
    'finds the upgrade done whose end a full disk kept from the record, and was told all the same; it is %s (A4, B2)',
    async (disk) => {
      const { handler, store } = await agent(async (name) => {
        if (name === 'before-outcome' && results.length === 0) await fillDisk();
      });
      await handler.handle(command(Operation.UPGRADE));
      expect(last()).toMatchObject({ outcome: Outcome.COMPLETED });
      if (disk === 'empty again') await emptyDisk();
      now += 600_000; // the upgrade's own deadline is over
      await handler.handle(command(Operation.CONFIRM));
      expect(last()).toMatchObject({ operation: Operation.CONFIRM, outcome: Outcome.COMPLETED });
      expect(host.process?.checksum).toBe(target);
      if (disk === 'empty again')
        expect(await store.load(ATTEMPT)).toMatchObject({ confirmed: true, outcome: 'completed' });
    },
  );

  it('is refused for an attempt that was undone', async () => {
    host.behaviours.set(target, 'crashes');
    const { handler } = await agent();
    await handler.handle(command(Operation.UPGRADE));
    await handler.handle(command(Operation.CONFIRM));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'not_completed' });
  });
});

describe('a command is refused with nothing touched', () => {
  const checksum = () => target;
  it.each<[string, () => ReturnType<typeof command>, string, RegExp]>([
    [
      'of an unknown type',
      () => command(Operation.UPGRADE, {}, { type: 5 as CommandType }),
      'invalid_payload',
      /COMMAND_TYPE_UPGRADE/,
    ],
    ['without an operation', () => command(Operation.UNSPECIFIED), 'invalid_payload', /operation/],
    [
      'whose attempt is no folder name',
      () => command(Operation.UPGRADE, { attemptId: '../x' }),
      'invalid_payload',
      /attempt_id/,
    ],
    [
      'for a component that is not here',
      () => command(Operation.UPGRADE, { binaryName: 'geth' }),
      'unknown_component',
      /node/,
    ],
    [
      'with a mutable checksum',
      () => command(Operation.UPGRADE, { artifact: { kind: ArtifactKind.FILE, url: URL, checksum: 'latest' } }),
      'invalid_payload',
      /artifact\.checksum/,
    ],
    [
      'with an image for a binary',
      () => command(Operation.UPGRADE, { artifact: { kind: ArtifactKind.IMAGE, url: URL, checksum: checksum() } }),
      'runtime_mismatch',
      /takes a file/,
    ],
    [
      'with a config twice',
      () => command(Operation.UPGRADE, { configFiles: [{ path: '/etc/node/a' }, { path: '/etc/node/a' }] }),
      'invalid_payload',
      /config_files\[1\]\.path/,
    ],
    [
      'with configs that no message carries',
      () => command(Operation.UPGRADE, { configFiles: [{ path: '/etc/node/a', content: new Uint8Array(5 << 20) }] }),
      'invalid_payload',
      /config_files: they have 5242880 bytes together/,
    ],
    [
      'with a life sign longer than its budget',
      () => command(Operation.UPGRADE, { budgets: { stableMs: 40_000 } }),
      'invalid_payload',
      /stable_ms/,
    ],
  ])('%s', async (_, made, errorCode, message) => {
    await (await agent()).handler.handle(made());
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode });
    expect(last()?.errorMessage).toMatch(message);
    expect(host.journal).toEqual([]);
    expect(host.process?.checksum).toBe(OLD);
  });

  it('that waited behind another one until its deadline had passed (A4)', async () => {
    const { handler } = await agent();
    const first = handler.handle(command(Operation.UPGRADE));
    const late = handler.handle(command(Operation.UPGRADE, { attemptId: 'rollout.node.2' }, { commandId: 'late' }));
    now += 120_000;
    await Promise.all([first, late]);
    expect(last()).toMatchObject({ commandId: 'late', outcome: Outcome.REFUSED, errorCode: 'expired' });
  });

  it('that came with no time left, in the very millisecond of its deadline (A4)', async () => {
    await (await agent()).handler.handle(command(Operation.UPGRADE, {}, { expiresInMs: 0 }));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'expired' });
    expect(host.journal).toEqual([]);
  });

  it('when an earlier attempt still holds the service down: no backup of a half-changed host (A4)', async () => {
    host.held = true;
    await (await agent()).handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({ outcome: Outcome.REFUSED, errorCode: 'host_unsettled' });
  });
});

describe('an agent that comes back after a crash', () => {
  it.each(['before:install_artifact', 'after:start_node', 'before-outcome'])(
    'at %s finishes the upgrade and tells it',
    async (point) => {
      await agentKilledAt(point, command(Operation.UPGRADE));
      expect(results).toEqual([]);
      await (await agent()).handler.resume();
      await expect.poll(() => results.length).toBe(1);
      expect(last()).toMatchObject({
        commandId: 'command-UPGRADE',
        outcome: Outcome.COMPLETED,
        runningChecksum: target,
      });
      expect(host.journal.filter((entry) => entry === 'stop')).toHaveLength(1);
    },
  );

  it('undoes an upgrade whose command has expired meanwhile (A4, field-case 14)', async () => {
    const before = host.snapshot();
    await agentKilledAt('before:write_configs', command(Operation.UPGRADE));
    now += 120_000;
    await (await agent()).handler.resume();
    await expect.poll(() => results.length).toBe(1);
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'expired', runningChecksum: OLD });
    expect(host.snapshot()).toBe(before);
  });

  it.each(['empty again', 'full still'])(
    'past its deadline tells the upgrade that was told before, and whose end a full disk kept from the record; it is %s',
    async (disk) => {
      await agentKilledAt('before-outcome', command(Operation.UPGRADE));
      if (disk === 'full still') await fillDisk();
      now += 120_000;
      await (await agent()).handler.resume();
      await expect.poll(() => results.length).toBe(1);
      expect(last()).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: target });
      expect(host.journal.filter((entry) => entry === 'stop')).toHaveLength(1);
    },
  );

  it('finishes an undo that had begun, also past the deadline', async () => {
    const before = host.snapshot();
    host.behaviours.set(target, 'crashes');
    await agentKilledAt('before-undo:install_artifact', command(Operation.UPGRADE));
    now += 120_000;
    await (await agent()).handler.resume();
    await expect.poll(() => results.length).toBe(1);
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'start_failed' });
    expect(host.snapshot()).toBe(before);
  });

  it('takes no command before it has settled what was open (field-case 20)', async () => {
    await agentKilledAt('before:install_artifact', command(Operation.UPGRADE));
    const { handler } = await agent();
    await handler.resume();
    await handler.handle(command(Operation.UPGRADE, { attemptId: 'rollout.node.2' }, { commandId: 'second' }));
    expect(results.map(({ commandId }) => commandId)).toEqual(['command-UPGRADE', 'second']);
  });

  it('puts everything back when it finds the record unreadable, and keeps the damaged one (field-cases 3, 17)', async () => {
    const before = host.snapshot();
    await agentKilledAt('before:start_node', command(Operation.UPGRADE));
    await writeFile(join(folder, 'attempts', `${ATTEMPT}.json`), '{"format":1,');
    // the fake keeps its backup in memory; its manifest on the disk is what tells that there is one
    await writeBackupManifestOf(ATTEMPT);
    const { handler } = await agent();
    await handler.resume();
    await handler.handle(command(Operation.UPGRADE));
    expect(last()).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'record_lost', runningChecksum: OLD });
    expect(host.snapshot()).toBe(before);
    expect(unreadable).toHaveLength(1);
    expect(await readdir(join(folder, 'attempts'))).toHaveLength(2);
  });
});

it('remembers through a restart that a result was acknowledged, and which configs it wrote', async () => {
  const { handler, store } = await agent();
  await handler.handle(command(Operation.UPGRADE));
  const result = last();
  if (result === undefined) throw new Error('no result');
  await handler.acknowledge(result);
  expect((await store.load(ATTEMPT))?.operations.UPGRADE?.acknowledged).toBe(true);
  const next = await agent();
  await next.handler.resume();
  expect(next.handler.configPathsOf('node')).toEqual(['/etc/node/config.toml']);
});

async function writeBackupManifestOf(attemptId: string): Promise<void> {
  const dir = join(folder, 'data', '.upgrade-backup', attemptId);
  await mkdir(dir, { recursive: true });
  const content = {
    copy: 'binaries/node',
    originalChecksum: OLD,
    copyChecksum: OLD,
    attributes: { mode: 0o755, uid: 0, gid: 0, mtimeMs: 0 },
    attributesCopy: 'attributes/binaries/node',
    extended: { names: [], checksum: checksumOf('[]') },
  };
  await writeBackupManifest(dir, {
    format: 1,
    artifact: { path: '/bin/node', realPath: '/bin/node', content },
    configs: [],
  });
}
