import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  ArtifactKind,
  type CommandResult,
  CommandSchema,
  CommandType,
  LinkPolicy,
  Operation,
  Outcome,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { READ_BY_65533, setExtendedAttributes } from '@hoodcloud/testkit/extended-attributes';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { extendedAttributesOf } from '../../host/extended-attributes.ts';
import { noFaultPoint } from '../../host/fault-point.ts';
import { checksumOf, FileHashes } from '../../host/file-hash.ts';
import { AttemptStore } from '../../upgrade/attempt-store.ts';
import { UpgradeHandler } from '../../upgrade/upgrade-handler.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../test-artifacts.ts';
import { Systemctl } from './systemctl.ts';
import { SystemdAdapter } from './systemd-adapter.ts';

/**
 * Versioned folders behind `current`, a service that runs as nobody and may bind low ports by its file's capabilities: one
 * upgrade, one that fails, one way back, each by the whole executor under a real systemd.
 */
const run = promisify(execFile);
const UNIT = 'released.service';
const APP = '/opt/linked';
const CONFIG = '/etc/linked/node.toml';
const NOBODY = 65534;
const results: CommandResult[] = [];

let server: ArtifactServer;
let handler: UpgradeHandler;
let adapter: SystemdAdapter;
let first: Buffer;
let attempts = 0;

beforeAll(async () => {
  server = await ArtifactServer.listen();
  await mkdir(join(APP, 'releases/v1/bin'), { recursive: true });
  await mkdir('/etc/linked', { recursive: true });
  await writeFile(join(APP, 'run.sh'), TEST_NODE_SCRIPT);
  await writeFile(CONFIG, 'peers = 10\n', { mode: 0o640 });
  await setExtendedAttributes(CONFIG, { 'system.posix_acl_access': READ_BY_65533 });
  const binary = join(APP, 'releases/v1/bin/node');
  first = await testArtifact('runs');
  await writeFile(binary, first);
  await chown(binary, NOBODY, NOBODY);
  await chmod(binary, 0o755);
  await run('setcap', ['cap_net_bind_service+ep', binary]);
  await symlink('releases/v1', join(APP, 'current'));
  const service = `User=nobody\nExecStart=${APP}/current/bin/node ${APP}/run.sh\nRestart=always\nRestartSec=0.25`;
  await writeFile(`/etc/systemd/system/${UNIT}`, `[Service]\n${service}\n[Install]\nWantedBy=multi-user.target\n`);
  await run('systemctl', ['daemon-reload']);
  await run('systemctl', ['enable', '-q', '--now', UNIT]);
  const files = { installPath: `${APP}/current/bin/node`, dataDir: '/var/lib/linked', configRoots: ['/etc/linked'] };
  const component = { unit: UNIT, ...files };
  const parts = { systemctl: new Systemctl(), hashes: new FileHashes() };
  adapter = new SystemdAdapter({ ...component, allowHttpHosts: ['127.0.0.1'] }, parts);
  await adapter.prepare();
  const store = await AttemptStore.open('/var/lib/linked-agent', () => undefined);
  const environment = { store, log: pino({ level: 'silent' }), faultPoint: noFaultPoint, now: Date.now };
  const components = [{ binaryName: 'node', dataDir: '/var/lib/linked', runtime: adapter }];
  handler = new UpgradeHandler(environment, components, {
    onProgress: () => undefined,
    onResult: (result) => results.push(result),
  });
});
afterAll(async () => {
  await run('systemctl', ['stop', UNIT]);
  await server.close();
  await rm(APP, { recursive: true, force: true });
});

async function upgrade(
  changes: Omit<MessageInitShape<typeof UpgradePayloadSchema>, '$typeName' | '$unknown'>,
): Promise<CommandResult | undefined> {
  const number = ++attempts;
  await handler.handle(
    create(CommandSchema, {
      commandId: `command-${number}`,
      type: CommandType.UPGRADE,
      expiresInMs: 100_000,
      upgrade: create(UpgradePayloadSchema, {
        attemptId: `attempt-${number}`,
        operation: Operation.UPGRADE,
        binaryName: 'node',
        targetVersion: 'v1',
        linkPolicy: LinkPolicy.REPLACE,
        dryStart: { args: ['-c', 'exit 0'] },
        budgets: { stableMs: 500 },
        ...changes,
      }),
    }),
  );
  return results.at(-1);
}

const offer = (content: Buffer) => ({
  kind: ArtifactKind.FILE,
  url: server.publish(`release-${attempts}`, content),
  checksum: checksumOf(content),
});

/** What runs: its file and the capabilities that the kernel gave it. */
async function process(): Promise<{ exe: string; capabilities: string | undefined }> {
  const { mainPid } = await adapter.status();
  const status = await readFile(`/proc/${mainPid}/status`, 'utf8');
  return { exe: await readlink(`/proc/${mainPid}/exe`), capabilities: /CapEff:\s*0*(\w+)/.exec(status)?.[1] };
}

const configLooks = async () => ({ ...(await extendedAttributesOf(CONFIG)), mode: (await stat(CONFIG)).mode });

it('the link leads to the new release, which runs as nobody with the capabilities of the old one (A8, field-cases 48, 50)', async () => {
  expect(await process()).toEqual({ exe: `${APP}/releases/v1/bin/node`, capabilities: '400' });
  const before = await configLooks();
  const configFiles = [{ path: CONFIG, content: Buffer.from('peers = 100\n') }];
  const result = await upgrade({ artifact: offer(await testArtifact('runs')), releaseName: 'v2', configFiles });
  expect(result?.errorMessage).toBe('');
  expect(result?.outcome).toBe(Outcome.COMPLETED);
  expect(await process()).toEqual({ exe: `${APP}/releases/v2/bin/node`, capabilities: '400' });
  expect(await readlink(join(APP, 'current'))).toBe('releases/v2');
  expect(await configLooks()).toEqual(before);
});

it('a release that crashes is undone: the exact link is back, its folder is gone, the earlier one runs (field-case 11)', async () => {
  const link = await lstat(join(APP, 'current'));
  const ends = Buffer.concat([await readFile('/usr/bin/true'), Buffer.from('v3')]);
  const result = await upgrade({ artifact: offer(ends), releaseName: 'v3' });
  expect(result).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'start_failed' });
  expect(await process()).toEqual({ exe: `${APP}/releases/v2/bin/node`, capabilities: '400' });
  const { uid, gid, mtimeMs } = await lstat(join(APP, 'current'));
  expect({ uid, gid, mtimeMs: Math.floor(mtimeMs) }).toEqual({
    uid: link.uid,
    gid: link.gid,
    mtimeMs: Math.floor(link.mtimeMs),
  });
  await expect(stat(join(APP, 'releases/v3'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('the way back needs no address: the link leads to the release that is still there', async () => {
  const artifact = { kind: ArtifactKind.FILE, url: '', checksum: checksumOf(first) };
  expect(await upgrade({ artifact })).toMatchObject({ outcome: Outcome.COMPLETED, errorMessage: '' });
  expect(await process()).toEqual({ exe: `${APP}/releases/v1/bin/node`, capabilities: '400' });
});
