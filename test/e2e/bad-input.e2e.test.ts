import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { Behaviour } from '@hoodcloud/testkit/artifact-server';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BadInputRow, badInputPage, stableText } from './stack/bad-input-table.ts';
import {
  type ChainOptions,
  type ManifestFields,
  manifestFor,
  writeChain,
  writeManifest,
} from './stack/chain-folder.ts';
import { footprintOf } from './stack/footprint.ts';
import type { CliAnswer } from './stack/hoodctl.ts';
import { Stack } from './stack/stack.ts';
import { sharedStores } from './stack/stores.ts';
import { BINARY, NODE_TYPE, type TinyHost } from './stack/tiny-host.ts';
import { releaseOf, type TinyRelease, tinyRelease } from './stack/tiny-release.ts';

const PAGE = fileURLToPath(new URL('../../docs/bad-input.md', import.meta.url));
const OLD = tinyRelease('v1.0.0');
const rows = new Map<string, BadInputRow>();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.open(await sharedStores());
}, 600_000);
afterAll(() => stack?.dispose());

/** A chain with one running host whose files have a mode, an owner and a time of their own. */
async function chainWithHost(chain: string, options: Partial<ChainOptions> = {}): Promise<TinyHost> {
  writeChain(stack.plane.configDir, chain, { known: [OLD], ...options });
  const host = stack.bareHost(chain, chain);
  host.install(OLD);
  for (const file of [host.installPath, host.configFile]) {
    chownSync(file, 0, 12_345);
    utimesSync(file, 1_600_000_000, 1_600_000_000);
  }
  await host.join();
  host.agent.start();
  await stack.untilKnown(host, OLD);
  return host;
}

const filesOf = (host: TinyHost) => footprintOf(join(host.root, 'bin'), join(host.root, 'config'));

interface NodeBefore {
  readonly files: ReturnType<typeof filesOf>;
  readonly starts: number;
  readonly pid: number | null | undefined;
}

async function lookAt(host: TinyHost): Promise<NodeBefore> {
  const { components } = await host.view();
  return { files: filesOf(host), starts: host.journal('starts').length, pid: components[0]?.main_pid };
}

/** The node is as it was: the very process, or the old version started again. @returns how the table says it */
async function expectOldVersion(host: TinyHost, before: NodeBefore): Promise<string> {
  const node = await until(`${host.name} to run ${OLD.version}`, async () => {
    const view = await host.view();
    const running = view.components[0];
    const fresh = running?.running_checksum === OLD.checksum && running.active && view.state !== 'maintenance';
    return fresh ? view : null;
  });
  expect(filesOf(host)).toEqual(before.files);
  const running = node.components[0];
  expect(running?.installed_checksum).toBe(OLD.checksum);
  if (host.journal('starts').length === before.starts) {
    expect(running?.main_pid).toBe(before.pid);
    return 'untouched';
  }
  expect(host.journal('starts').at(-1)).toBe(`${OLD.version} runs`);
  return 'old version again';
}

function note(input: string, where: string, message: string, node: string, host?: TinyHost): void {
  rows.set(input, { input, where, message: stableText(message.trim(), host?.root ?? '/nowhere'), node });
}

const told = ({ stdout, stderr }: CliAnswer) => (stderr || stdout).trim().replace(/\n\s*/g, ' ');

describe('refused before anything is created', () => {
  const CHAIN = 'refusing';
  let host: TinyHost;
  beforeAll(async () => {
    host = await chainWithHost(CHAIN);
  }, 600_000);

  const flags = ['--chain', CHAIN, '--type', NODE_TYPE];
  const good = (): ManifestFields =>
    manifestFor(CHAIN, tinyRelease('v9'), `${stack.artifacts.origin}/never-asked`, { upgrade_id: 'bad' });
  const rewritten = (change: (text: string) => string) => {
    const file = join(stack.plane.configDir, 'upgrades', CHAIN, 'bad.yaml');
    const lines = Object.entries(good()).map(([name, value]) => `${name}: ${value}\n`);
    writeFileSync(file, change(lines.join('')));
    return ['--upgrade', 'bad'];
  };
  const byManifest = (fields: ManifestFields) => {
    writeManifest(stack.plane.configDir, { ...good(), ...fields });
    return ['--upgrade', 'bad'];
  };
  const byHand = (fields: object) => {
    const file = join(host.root, 'request.json');
    const { target_version, target_url, target_checksum } = good();
    const request = { binary_name: BINARY, source_version: OLD.version, target_version };
    const content = { target_binary_url: target_url, target_binary_checksum: target_checksum, ...request, ...fields };
    writeFileSync(file, JSON.stringify({ ...content, manifest_content_hash: OLD.checksum }));
    return ['-f', file];
  };

  it.each<[input: string, words: () => string[], message: RegExp]>([
    [
      'no checksum in a manifest',
      () => byManifest({ target_checksum: undefined }),
      /bad\.yaml:\d+:\d+: "target_checksum": is missing/,
    ],
    ['no checksum in a request', () => byHand({ target_binary_checksum: '' }), /give the SHA-256 of the artifact/],
    [
      'a mutable checksum ("latest")',
      () => byManifest({ target_checksum: 'latest' }),
      /"target_checksum": must be "sha256:"/,
    ],
    [
      'a typo in a field name of a manifest',
      () => rewritten((text) => text.replace('target_url', 'targt_url')),
      /upgrades\/refusing\/bad\.yaml:6:1: unknown field "targt_url"/,
    ],
    [
      'a template with a missing variable',
      () => {
        const template = join(stack.plane.configDir, CHAIN, 'templates', 'node.conf.tmpl');
        writeFileSync(template, 'peers = 10\nseeds = {{ .seeds }}\n');
        return byManifest({ config_changes: [{ path: host.configFile, template: 'node.conf.tmpl' }] });
      },
      /node\.conf\.tmpl:2.*seeds/,
    ],
    [
      'a template that is not there',
      () => byManifest({ config_changes: [{ path: host.configFile, template: 'missing.tmpl' }] }),
      /missing\.tmpl/,
    ],
    [
      'a target version equal to the source',
      () => byManifest({ target_version: OLD.version }),
      /nothing would be done/,
    ],
    [
      'a request of 5 MB',
      () =>
        byHand({
          config_changes: [
            { path: '/etc/node.conf', template: 'node.conf.tmpl', overrides: { seeds: 'x'.repeat(5_000_000) } },
          ],
        }),
      /too large/,
    ],
    ['a recovery plan of 20,000 characters', () => byHand({ recovery_plan: 'x'.repeat(20_000) }), /recovery_plan/],
    ['an upgrade that has no manifest', () => ['--upgrade', 'v404'], /upgrades\/refusing\/v404\.yaml is not in/],
  ])('%s', async (input, words, message) => {
    const before = await lookAt(host);
    const answer = await stack.plane.hoodctl.run('rollout', 'create', ...flags, '--strategy', 'rolling', ...words());
    expect(told(answer)).toMatch(message);
    expect(answer.code).not.toBe(0);
    expect((await stack.get<{ items: unknown[] }>(`/rollouts?chain_profile_id=${CHAIN}`)).items).toEqual([]);
    note(input, 'hoodctl rollout create', told(answer), await expectOldVersion(host, before), host);
  });

  it('a mutable tag of an image', async () => {
    const chain = 'imaging';
    writeChain(stack.plane.configDir, chain, { known: [], artifactKind: 'image' });
    const manifest = manifestFor(chain, tinyRelease('v9'), 'registry.example.org/tinynode:latest');
    const upgrade = writeManifest(stack.plane.configDir, manifest);
    const words = ['--chain', chain, '--type', NODE_TYPE, '--upgrade', upgrade, '--strategy', 'rolling'];
    const answer = await stack.plane.hoodctl.run('rollout', 'create', ...words);
    expect(told(answer)).toMatch(/not pinned.*a tag can change/);
    note('a mutable tag of an image', 'hoodctl rollout create', told(answer), 'untouched');
  });

  it('a second active rollout on the chain', async () => {
    const before = await lookAt(host);
    const id = await stack.create(CHAIN, stack.offer(CHAIN, tinyRelease('v2')), '--strategy', 'rolling');
    const again = ['--chain', CHAIN, '--type', NODE_TYPE, '--upgrade', 'v2', '--strategy', 'rolling'];
    const answer = await stack.plane.hoodctl.run('rollout', 'create', ...again);
    expect(told(answer)).toContain(`rollout ${id} is active: let it end or cancel it first`);
    await stack.plane.hoodctl.does('rollout', 'cancel', id);
    await stack.untilStatus(id, 'canceled');
    note(
      'a second active rollout on the chain',
      'hoodctl rollout create',
      told(answer),
      await expectOldVersion(host, before),
    );
  });

  it('no eligible node', async () => {
    const chain = 'empty';
    writeChain(stack.plane.configDir, chain, { known: [OLD] });
    await stack.plane.hoodctl.does('node', 'add', 'never-here', '--chain', chain, '--type', NODE_TYPE);
    const id = await stack.create(chain, stack.offer(chain, tinyRelease('v2')), '--strategy', 'rolling');
    const answer = await stack.plane.hoodctl.run('rollout', 'start', id);
    expect(told(answer)).toMatch(/can be upgraded.*never-here: No agent has joined/);
    expect(answer.code).toBe(1);
    expect((await stack.rollout(id)).status).toBe('pending');
    note('no eligible node', 'hoodctl rollout start', told(answer), 'untouched');
  });

  it('an unknown join token', async () => {
    const stranger = stack.bareHost(CHAIN, 'stranger');
    stranger.install(OLD);
    const message = await failureOf(stranger.agentDoes('join', '--token', 'hcj_unknown'));
    expect(message).toMatch(/refused the join token/);
    expect(existsSync(join(stranger.root, 'state', 'credential.json'))).toBe(false);
    note('an unknown join token', 'hoodcloud-agent join', message, 'not joined', stranger);
  });

  it('a join token that was used', async () => {
    const first = stack.bareHost(CHAIN, 'first-comer');
    first.install(OLD);
    const token = await first.join();
    const second = stack.bareHost(CHAIN, 'second-comer');
    second.install(OLD);
    const message = await failureOf(second.agentDoes('join', '--token', token));
    expect(message).toMatch(/refused the join token.*used/);
    expect(existsSync(join(second.root, 'state', 'credential.json'))).toBe(false);
    note('a join token that was used already', 'hoodcloud-agent join', message, 'not joined', second);
  });
});

/** What the operator's terminal shows when the agent's program ends with an error. */
async function failureOf(running: Promise<string>): Promise<string> {
  const error = await running.then(
    () => new Error('it succeeded'),
    (caught: Error & { stderr?: string }) => caught,
  );
  return ('stderr' in error && error.stderr) || error.message;
}

/** A release, how its address answers, and what the chain allows. */
interface HostCase {
  readonly release?: () => TinyRelease;
  readonly behaviours?: readonly Behaviour[];
  readonly manifest?: (host: TinyHost) => ManifestFields;
  readonly budgets?: Readonly<Record<string, number>>;
  /** Prepares the host. @returns what makes it whole again */
  readonly prepare?: (host: TinyHost) => () => void;
  /** While the node still resists. */
  readonly meanwhile?: (host: TinyHost) => Promise<void>;
  readonly message: RegExp;
  readonly node: 'untouched' | 'old version again';
}

const mount = (...words: string[]) => execFileSync('mount', words);
const umount = (folder: string) => execFileSync('umount', [folder]);

/** The folder's content on a file system of its own. */
function onTmpfs(folder: string, size: string): () => void {
  const copy = `${folder}.copy`;
  execFileSync('cp', ['-a', folder, copy]);
  mount('-t', 'tmpfs', '-o', `size=${size},mode=755`, 'hoodcloud-test', folder);
  execFileSync('cp', ['-a', `${copy}/.`, folder]);
  return () => umount(folder);
}

const HOST_CASES: Readonly<Record<string, HostCase>> = {
  'a checksum that is not the artifact’s': {
    manifest: () => ({ target_checksum: tinyRelease('another').checksum }),
    message: /the manifest wants sha256:.*correct the manifest or the file/,
    node: 'untouched',
  },
  'a URL that answers 404': {
    behaviours: [{ kind: 'status', status: 404 }],
    message: /404/,
    node: 'untouched',
  },
  'a redirect loop': { behaviours: [{ kind: 'redirect_loop' }], message: /redirect/, node: 'untouched' },
  'a body that is always cut short': {
    behaviours: [{ kind: 'cut_short', afterBytes: 1000 }],
    budgets: { acquire_seconds: 5 },
    message: /could not be downloaded.*the last trouble/,
    node: 'untouched',
  },
  'a body with a wrong byte': {
    behaviours: [{ kind: 'wrong_bytes' }],
    message: /the manifest wants/,
    node: 'untouched',
  },
  'a binary for another processor': {
    release: () => {
      const content = Buffer.from(tinyRelease('v2').content);
      content.writeUInt16LE(process.arch === 'arm64' ? 0x3e : 0xb7, 18); // e_machine of the ELF header
      return releaseOf('v2', content);
    },
    message: /is built for (arm64|x64), this host is/,
    node: 'untouched',
  },
  'a web page instead of a binary': {
    release: () => releaseOf('v2', Buffer.from('<html>moved</html>')),
    message: /not an executable \(no ELF header\)/,
    node: 'untouched',
  },
  'a script instead of a binary': {
    release: () => releaseOf('v2', Buffer.from('#!/bin/sh\nsleep 1\n')),
    message: /is a script: it must be a binary/,
    node: 'untouched',
  },
  'a binary that crashes at once': {
    release: () => tinyRelease('v2', 'crashes'),
    message: /can not read the data of this chain/,
    node: 'old version again',
  },
  'a config that the node refuses': {
    manifest: (host) => {
      const template = join(stack.plane.configDir, host.chain, 'templates', 'node.conf.tmpl');
      writeFileSync(template, 'peers = {{ .peers }}\n');
      return {
        config_changes: [{ path: host.configFile, template: 'node.conf.tmpl', overrides: { peers: 'refused' } }],
      };
    },
    message: /the value of peers is refused/,
    node: 'old version again',
  },
  'a config outside the folders that the agent allows': {
    manifest: (host) => {
      const template = join(stack.plane.configDir, host.chain, 'templates', 'node.conf.tmpl');
      writeFileSync(template, 'peers = 1\n');
      return { config_changes: [{ path: join(host.dataDir, 'priv_key'), template: 'node.conf.tmpl' }] };
    },
    message: /config_roots|allowed|outside/,
    node: 'untouched',
  },
  'a full disk': {
    prepare: (host) => onTmpfs(join(host.root, 'bin'), '1m'),
    message: /MB free, .* MB are needed: free some space/,
    node: 'untouched',
  },
  'a read-only install folder': {
    prepare: (host) => {
      const folder = join(host.root, 'bin');
      mount('--bind', folder, folder);
      mount('-o', 'remount,bind,ro', folder);
      return () => umount(folder);
    },
    message: /read-only/,
    node: 'untouched',
  },
  'a stop that outlasts its budget': {
    budgets: { stop_seconds: 15 }, // and ten of grace before the agent stops waiting for a busy disk
    prepare: (host) => {
      host.stopSlowly();
      return () => undefined;
    },
    meanwhile: async (host) => {
      await until(
        'the agent to report the overrun',
        async () => host.agent.log().includes('stop_overrun') || overrunShown(host),
      );
      host.stopAtLast();
    },
    message: /still stopping after its budget; nothing kills it/,
    node: 'old version again',
  },
};

/** The operator sees the overrun while the old process is still closing its databases. */
async function overrunShown(host: TinyHost): Promise<boolean> {
  const { items } = await stack.get<{ items: { id: string }[] }>(`/rollouts?chain_profile_id=${host.chain}`);
  const [row] = await stack.nodesOf(items[0]?.id ?? '');
  return row?.upgrade_phase === 'ROLLBACKING';
}

describe.concurrent('on the host', () => {
  it.each(Object.keys(HOST_CASES))('%s', async (input) => {
    const found = HOST_CASES[input];
    if (!found) throw new Error(`no case ${input}`);
    const chain = `host-${Object.keys(HOST_CASES).indexOf(input)}`;
    const host = await chainWithHost(chain, { budgets: { stop_seconds: 600, ...found.budgets } });
    const restore = found.prepare?.(host);
    try {
      const before = await lookAt(host);
      const release = found.release?.() ?? tinyRelease('v2');
      const url = stack.artifacts.publish(`${chain}/v2`, release.content, ...(found.behaviours ?? []));
      const upgrade = writeManifest(stack.plane.configDir, manifestFor(chain, release, url, found.manifest?.(host)));
      const id = await stack.create(chain, upgrade, '--strategy', 'rolling', '--start');
      await found.meanwhile?.(host);
      await stack.untilStatus(id, 'paused');
      const shown = await stack.plane.hoodctl.does('rollout', 'nodes', id);
      expect(shown.replace(/\s+/g, ' ')).toMatch(found.message);
      const [row] = await stack.nodesOf(id);
      expect(row?.error_message).toMatch(found.message);
      const untouched = found.node === 'untouched';
      expect(row?.error_message).toMatch(untouched ? /before the node was touched/ : /failed and was undone/);
      const state = await expectOldVersion(host, before);
      expect(state).toBe(found.node);
      await stack.plane.hoodctl.does('rollout', 'cancel', id);
      await stack.untilStatus(id, 'canceled');
      note(input, 'hoodctl rollout nodes', row?.error_message ?? '', state, host);
    } finally {
      restore?.();
    }
  });

  it('an agent that is offline before', async () => {
    const host = await chainWithHost('offline-before');
    const before = await lookAt(host);
    await host.agent.kill();
    await until('the node to be offline', async () => !(await host.view()).online);
    const id = await stack.create(host.chain, stack.offer(host.chain, tinyRelease('v2')), '--strategy', 'rolling');
    const answer = await stack.plane.hoodctl.run('rollout', 'start', id, '--watch');
    expect(told(answer)).toMatch(/agent of .* is offline/);
    host.agent.start();
    note(
      'an agent that is offline before',
      'hoodctl rollout start',
      told(answer),
      await expectOldVersion(host, before),
      host,
    );
  });

  it('an agent that dies in the middle and comes back', async () => {
    const host = await chainWithHost('offline-middle', { budgets: { stop_seconds: 600 } });
    host.stopSlowly();
    const release = tinyRelease('v2');
    const id = await stack.create(host.chain, stack.offer(host.chain, release), '--strategy', 'rolling', '--start');
    await until('the node to be stopping', async () => host.isClosing());
    await host.agent.kill();
    host.stopAtLast();
    await until('the node to be shown offline', async () => !(await host.view()).online);
    const shown = await stack.plane.hoodctl.asks<NodeView>('node', 'show', host.name);
    host.agent.start();
    await stack.untilStatus(id, 'completed');
    expect(host.journal('stops')).toEqual([`${OLD.version} runs`]);
    note(
      'an agent that dies in the middle',
      'hoodctl node show',
      `online: ${shown.online}; the rollout waits for its return and goes on where the host stands`,
      'new version, stopped once',
      host,
    );
  });
});

it('the page shows every bad input as it was observed', () => {
  const page = badInputPage([...rows.values()].sort((a, b) => a.input.localeCompare(b.input, 'en')));
  if (process.env.HOODCLOUD_WRITE_DOCS) {
    mkdirSync(join(PAGE, '..'), { recursive: true });
    writeFileSync(PAGE, page);
  }
  expect(readFileSync(PAGE, 'utf8'), 'docs/bad-input.md is stale: run with HOODCLOUD_WRITE_DOCS=1').toBe(page);
});
