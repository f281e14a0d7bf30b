import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AgentConfig } from '../../agent-config.ts';
import { adapterFor, sharedByAdapters } from '../../component-adapters.ts';
import { ProcessHost } from '../../testing/process-host.ts';
import { doctorText, examineHost } from './doctor.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let host: ProcessHost;
beforeAll(async () => {
  host = await ProcessHost.make();
  await host.startAgent();
  await host.upgrade('attempt-1');
});
afterAll(() => host.dispose());

const path = (...names: string[]) => join(host.folder, ...names);
const backup = () => path('data', '.upgrade-backup', 'attempt-1');

function runtimeOf(config: AgentConfig) {
  const [component] = config.components;
  if (component === undefined) throw new Error('the host has one component');
  return adapterFor(config, component, sharedByAdapters());
}

it('finds nothing to do on a host that is well', async () => {
  const findings = await examineHost(host.config);
  expect(findings.filter(({ verdict }) => verdict === 'trouble')).toEqual([]);
  expect(findings).toContainEqual({ check: 'node backups', verdict: 'ok', found: '1 kept, all whole', todo: null });
  expect(doctorText(findings)).toMatch(/, 0 to do$/);
});

interface Harm {
  /** @returns what makes the host whole again */
  readonly harm: () => Promise<() => Promise<unknown>>;
  readonly config?: () => AgentConfig;
  readonly check: string;
  readonly verdict: 'warning' | 'trouble';
  readonly found: RegExp;
  readonly todo: RegExp;
}

const moved = async (from: string) => {
  await rename(from, `${from}.moved`);
  return () => rename(`${from}.moved`, from);
};
const planted = async (file: string) => {
  await writeFile(file, '{');
  return () => rm(file);
};
const nothing = async () => async () => undefined;

const HARMS: Readonly<Record<string, Harm>> = {
  'a credential that others may read': {
    harm: async () => {
      const file = join(host.config.state_dir, 'credential.json');
      await chmod(file, 0o644);
      return () => chmod(file, 0o600);
    },
    check: 'credential',
    verdict: 'trouble',
    found: /mode 644/,
    todo: /^chmod 600 /,
  },
  'a gateway that nobody answers for': {
    harm: nothing,
    config: () => ({ ...host.config, control_plane: { address: '127.0.0.1:1', tls: null } }),
    check: 'gateway',
    verdict: 'trouble',
    found: /127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED.*last contact 20/,
    todo: /the gateway is down.*rollback/,
  },
  'a gateway that speaks no TLS': {
    harm: nothing,
    config: () => {
      const tls = { ca_file: null, cert_file: null, key_file: null, server_name: null };
      return { ...host.config, control_plane: { ...host.config.control_plane, tls } };
    },
    check: 'gateway',
    verdict: 'trouble',
    found: /can't be reached/,
    todo: /see that this host may reach/,
  },
  'a folder of configs that is gone': {
    harm: () => moved(path('etc')),
    check: 'node folders',
    verdict: 'trouble',
    found: /etc can't be written/,
    todo: /correct the configuration/,
  },
  'a binary that was swapped without a restart': {
    harm: async () => {
      const restore = await moved(path('bin', 'node'));
      await writeFile(path('bin', 'node'), 'another', { mode: 0o755 });
      return restore;
    },
    check: 'node runtime',
    verdict: 'trouble',
    found: /runs sha256:.* while sha256:.* is installed/,
    todo: /restart/,
  },
  'a backup that a way back needs and that is damaged': {
    harm: () => moved(join(backup(), 'binaries', 'node')),
    check: 'node backups',
    verdict: 'trouble',
    found: /attempt-1, which a way back needs, is gone or not whole/,
    todo: /upgrade to the version that you want/,
  },
  'a backup that nobody needs and that was never finished': {
    harm: async () => {
      const dir = path('data', '.upgrade-backup', 'unfinished');
      await mkdir(dir);
      return () => rm(dir, { recursive: true });
    },
    check: 'node backups',
    verdict: 'warning',
    found: /unfinished is not whole/,
    todo: /not needed/,
  },
  'a hold that no attempt owns': {
    harm: async () => {
      await runtimeOf(host.config).hold();
      return () => runtimeOf(host.config).release();
    },
    check: 'node hold',
    verdict: 'trouble',
    found: /no attempt owns the hold/,
    todo: /hoodcloud-agent start-node node/,
  },
  'a download of an earlier upgrade': {
    harm: () => planted(path('bin', '.download-node.part')),
    check: 'node files',
    verdict: 'warning',
    found: /\.download-node\.part is left/,
    todo: /rm /,
  },
  'a record that nobody can read': {
    harm: () => planted(join(host.config.state_dir, 'attempts', 'torn.json')),
    check: 'records',
    verdict: 'trouble',
    found: /torn\.json can't be read/,
    todo: /sets it aside/,
  },
  'a record that was set aside': {
    harm: () => planted(join(host.config.state_dir, 'attempts', 'old.json.unreadable-17')),
    check: 'records',
    verdict: 'warning',
    found: /was set aside/,
    todo: /bug report/,
  },
};

it.each(Object.keys(HARMS))('names %s, and what to do', async (name) => {
  const harm = HARMS[name];
  if (harm === undefined) throw new Error(`no harm ${name}`);
  const heal = await harm.harm();
  try {
    const { check, verdict, found, todo } = harm;
    expect(await examineHost(harm.config?.() ?? host.config)).toContainEqual({
      check,
      verdict,
      found: expect.stringMatching(found),
      todo: expect.stringMatching(todo),
    });
  } finally {
    await heal();
  }
});

it('says that the agent is dead', async () => {
  await host.stopAgent();
  expect(await examineHost(host.config)).toContainEqual(
    expect.objectContaining({ check: 'agent', verdict: 'trouble', todo: expect.stringMatching(/systemctl start/) }),
  );
});
