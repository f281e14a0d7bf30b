import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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
import { ArtifactServer, type Behaviour } from '@hoodcloud/testkit/artifact-server';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { noFaultPoint } from './host/fault-point.ts';
import { checksumOf, FileHashes } from './host/file-hash.ts';
import { writeWithFolders } from './runtime/conformance.ts';
import { ProcessAdapter } from './runtime/process/process-adapter.ts';
import { TEST_NODE_SCRIPT, testArtifact } from './runtime/test-artifacts.ts';
import { AttemptStore } from './upgrade/attempt-store.ts';
import { UpgradeHandler } from './upgrade/upgrade-handler.ts';

/**
 * What an operator may get wrong, and what a host may be short of, on a real node under the process runtime: each has a
 * sentence that says what to do, and leaves the node as it was. The table at the end is for people.
 */
let bundles: string;
let folder: string;
let artifacts: ArtifactServer;
let adapter: ProcessAdapter;
let good: Buffer;
const mounts: string[] = [];
let published = 0;
const table: Record<string, { message: string; node: string }> = {};

beforeAll(async () => {
  bundles = await mkdtemp(join(tmpdir(), 'hoodcloud-supervisor-'));
  const entry = new URL('./runtime/process/supervisor-main.ts', import.meta.url);
  await writeFile(join(bundles, 'supervisor.mjs'), await bundledProgram(entry));
});
afterAll(async () => {
  console.table(table);
  await rm(bundles, { recursive: true, force: true });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-bad-input-'));
  artifacts = await ArtifactServer.listen();
  good = await testArtifact('runs');
});
afterEach(async () => {
  await adapter.shutDown(AbortSignal.timeout(60_000));
  await artifacts.close();
  for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
  await rm(folder, { recursive: true, force: true });
});

const config = () => join(folder, 'etc', 'config.toml');

async function startNode(behaviour: 'runs' | 'slow_to_stop'): Promise<void> {
  const binary = join(folder, 'bin', 'node');
  await writeWithFolders(binary, await testArtifact(behaviour), 0o750);
  await writeWithFolders(join(folder, 'node.sh'), TEST_NODE_SCRIPT, 0o644);
  await writeWithFolders(config(), 'peers = 10\n', 0o600);
  await writeWithFolders(join(folder, 'etc', 'priv_validator_state.json'), '{"height":"7"}', 0o600);
  adapter = new ProcessAdapter(
    {
      binaryName: 'node',
      installPath: binary,
      dataDir: join(folder, 'data'),
      configRoots: [join(folder, 'etc')],
      allowHttpHosts: ['127.0.0.1'],
      stateDir: join(folder, 'state'),
      runtime: {
        type: 'process',
        command: [binary, join(folder, 'node.sh')],
        cwd: folder,
        env: {},
        user: null,
        stop_signal: 'SIGTERM',
        restart_delay_ms: 200,
        autostart: false,
      },
    },
    { hashes: new FileHashes(), supervisorCommand: [process.execPath, join(bundles, 'supervisor.mjs')] },
  );
  await adapter.prepare();
  await adapter.start({ signal: AbortSignal.timeout(60_000), stableMs: 200 });
}

type Payload = Omit<MessageInitShape<typeof UpgradePayloadSchema>, '$typeName' | '$unknown'>;

async function upgrade(changes: Payload): Promise<CommandResult> {
  const results: CommandResult[] = [];
  const environment = {
    store: await AttemptStore.open(join(folder, 'state'), () => undefined),
    log: pino({ level: 'silent' }),
    faultPoint: noFaultPoint,
    now: Date.now,
  };
  const component = { binaryName: 'node', dataDir: join(folder, 'data'), runtime: adapter };
  const handler = new UpgradeHandler(environment, [component], {
    onProgress: (_command, _attempt, { note }) => {
      if (note.startsWith('undoing')) writeFileSync(join(folder, 'may-stop'), ''); // one that is slow to stop has overrun by now
    },
    onResult: (result) => results.push(result),
  });
  const payload: Payload = {
    attemptId: 'attempt-1',
    operation: Operation.UPGRADE,
    binaryName: 'node',
    artifact: artifact(good),
    configFiles: [{ path: config(), content: Buffer.from('peers = 100\n') }],
    budgets: { stableMs: 300 },
    ...changes,
  };
  await handler.handle(
    create(CommandSchema, {
      commandId: 'command-1',
      type: CommandType.UPGRADE,
      expiresInMs: 600_000,
      upgrade: create(UpgradePayloadSchema, payload as MessageInitShape<typeof UpgradePayloadSchema>),
    }),
  );
  const [result] = results;
  if (result === undefined) throw new Error('no result came');
  return result;
}

function artifact(content: Buffer | string, ...behaviours: Behaviour[]) {
  const url = artifacts.publish(`release-${++published}`, content, ...behaviours);
  return { kind: ArtifactKind.FILE, url, checksum: checksumOf(content) } as const;
}

/** Binary, configs and their folders: names, content, mode, owner and, where nothing may be replaced, inode. */
async function files(): Promise<
  { path: string; content: string; mode: number; uid: number; gid: number; ino: number }[]
> {
  const found = [];
  for (const dir of ['bin', 'etc']) {
    for (const name of (await readdir(join(folder, dir))).sort()) {
      const path = join(folder, dir, name);
      const { mode, uid, gid, ino } = await stat(path);
      found.push({ path, content: checksumOf(await readFile(path)), mode, uid, gid, ino });
    }
  }
  return found;
}

function otherProcessor(): Buffer {
  const elf = Buffer.from(good);
  elf.writeUInt16LE(elf.readUInt16LE(18) === 0xb7 ? 0x3e : 0xb7, 18);
  return elf;
}

interface Case {
  readonly given: () => Payload | Promise<Payload>;
  readonly code: string;
  readonly says: RegExp;
  /** `untouched`: the very process still runs. `old again`: it was stopped, and runs as before. */
  readonly node: 'untouched' | 'old again';
  readonly old?: 'slow_to_stop';
}

const CASES: Record<string, Case> = {
  'a wrong checksum': {
    given: () => ({ artifact: { ...artifact(good), checksum: checksumOf('another release') } }),
    code: 'checksum_mismatch',
    says: /the manifest wants sha256:.*correct the manifest/,
    node: 'untouched',
  },
  'a mutable checksum': {
    given: () => ({ artifact: { ...artifact(good), checksum: 'latest' } }),
    code: 'invalid_payload',
    says: /artifact\.checksum: "latest"/,
    node: 'untouched',
  },
  'wrong bytes from the server': {
    given: () => ({ artifact: artifact(good, { kind: 'wrong_bytes' }) }),
    code: 'checksum_mismatch',
    says: /delivered \d+ bytes/,
    node: 'untouched',
  },
  'a file that is not there': {
    given: () => ({ artifact: artifact(good, { kind: 'status', status: 404 }) }),
    code: 'download_refused',
    says: /answered 404: there is no such file/,
    node: 'untouched',
  },
  'a redirect loop': {
    given: () => ({ artifact: artifact(good, { kind: 'redirect_loop' }) }),
    code: 'download_refused',
    says: /redirects more than 5 times/,
    node: 'untouched',
  },
  'a body that is cut short again and again': {
    given: () => ({
      artifact: artifact(good, { kind: 'cut_short', afterBytes: 0 }),
      budgets: { stableMs: 300, acquireMs: 3_000 },
    }),
    code: 'download_failed',
    says: /could not be downloaded .* the last trouble:/,
    node: 'untouched',
  },
  'a binary for another processor': {
    given: () => ({ artifact: artifact(otherProcessor()) }),
    code: 'wrong_platform',
    says: /is built for \w+, this host is/,
    node: 'untouched',
  },
  'a web page instead of a binary': {
    given: () => ({ artifact: artifact('<!doctype html>') }),
    code: 'not_executable',
    says: /is not an executable/,
    node: 'untouched',
  },
  'a release that crashes at once': {
    given: async () => ({ artifact: artifact(await testArtifact('crashes')) }),
    code: 'start_failed',
    says: /panic: bad data/,
    node: 'old again',
  },
  'a config that the node refuses': {
    given: () => ({ configFiles: [{ path: config(), content: Buffer.from('refuse-me\n') }] }),
    code: 'start_failed',
    says: /panic: config refused/,
    node: 'old again',
  },
  'a config outside the roots': {
    given: () => ({ configFiles: [{ path: join(folder, 'bin', 'x'), content: Buffer.from('x') }] }),
    code: 'path_refused',
    says: /outside the config_roots/,
    node: 'untouched',
  },
  'the signing state as a config': {
    given: () => ({
      configFiles: [{ path: join(folder, 'etc', 'priv_validator_state.json'), content: Buffer.from('{}') }],
    }),
    code: 'path_refused',
    says: /signing states and databases are never touched/,
    node: 'untouched',
  },
  'a config that somebody edited': {
    given: () => ({
      configFiles: [{ path: config(), content: Buffer.from('x'), lastWrittenChecksum: checksumOf('peers = 9\n') }],
    }),
    code: 'config_drift',
    says: /was changed on the host since it was last written/,
    node: 'untouched',
  },
  'a full disk': {
    given: async () => {
      await mkdir(join(folder, 'data'));
      mount('tmpfs', join(folder, 'data'), ['-t', 'tmpfs', '-o', 'size=8m']);
      return {};
    },
    code: 'disk_full',
    says: /MB free, .* MB are needed: free some space/,
    node: 'untouched',
  },
  'a full disk where the binary lies': {
    given: () => {
      mount('tmpfs', join(folder, 'bin'), ['-t', 'tmpfs', '-o', 'size=24m'], true);
      return { artifact: artifact(Buffer.concat([good, Buffer.alloc(12 << 20)])) };
    },
    code: 'disk_full',
    says: /MB free, .* MB are needed: free some space/,
    node: 'untouched',
  },
  'an install folder that is read-only': {
    given: () => {
      mount(join(folder, 'bin'), join(folder, 'bin'), ['--bind']);
      execFileSync('mount', ['-o', 'remount,ro,bind', join(folder, 'bin')]);
      return {};
    },
    code: 'read_only',
    says: /mounted read-only: mount it writable/,
    node: 'untouched',
  },
  'a stop that outlasts its budget': {
    given: () => ({ budgets: { stableMs: 300, stopMs: 200 } }),
    code: 'stop_overrun',
    says: /is still stopping after its budget; nothing kills it/,
    node: 'old again',
    old: 'slow_to_stop',
  },
};

/** Mounts, to be undone after the test; `keep` carries over what the folder holds. */
function mount(source: string, target: string, options: readonly string[], keep = false): void {
  const saved = join(folder, 'saved');
  if (keep) execFileSync('cp', ['-a', target, saved]);
  execFileSync('mount', [...options, source, target]);
  mounts.push(target);
  if (keep) execFileSync('cp', ['-a', `${saved}/.`, target]);
}

it.each(Object.entries(CASES))('%s', async (name, { given, code, says, node, old }) => {
  await startNode(old ?? 'runs');
  const payload = await given();
  const before = { files: await files(), status: await adapter.status() };

  const result = await upgrade(payload);

  table[name] = { message: `${result.errorCode}: ${result.errorMessage.replaceAll(folder, '')}`, node };
  expect(result.outcome).not.toBe(Outcome.COMPLETED);
  expect(result.errorCode).toBe(code);
  expect(result.errorMessage).toMatch(says);
  const now = { files: await files(), status: await adapter.status() };
  expect(now.status).toMatchObject({ state: 'running', held: false });
  expect(now.status.installedChecksum).toBe(before.status.installedChecksum);
  if (node === 'untouched') {
    expect(now.files).toEqual(before.files);
    expect(now.status).toEqual(before.status);
  } else {
    const withoutInode = (list: typeof before.files) => list.map((file) => ({ ...file, ino: 0 }));
    expect(withoutInode(now.files)).toEqual(withoutInode(before.files));
    expect(now.status.runningChecksum).toBe(before.status.installedChecksum);
  }
});
