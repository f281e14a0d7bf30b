import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { createLab, type HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepSweep, type SweepRow } from '../crash-results.ts';
import type { Adapter } from '../runtimes.ts';
import { type Behaviour, fileRelease, imageRelease } from '../small-service.ts';
import { sampleOf, shareOf } from './injection.ts';
import { type Direction, SweepLane, type SweepReport } from './sweep-lane.ts';

const ADAPTERS: readonly Adapter[] = ['systemd', 'docker', 'process'];
const DIRECTIONS: readonly Direction[] = ['upgrade', 'undo'];
/** `all`: each call with each harm; otherwise one call of each kind with each harm. */
const ALL = process.env.HOODCLOUD_CRASH === 'all';
/** `2/5`: only the second of five shares, each of which harms every call. */
const SHARE = process.env.HOODCLOUD_CRASH_SHARE ?? '1/1';
const timeout = ALL ? 4 * 3_600_000 : 600_000;
const titleOf = (adapter: Adapter) => `under ${adapter}`;

describe.skipIf(!dockerAvailable())('every mutating system call of the agent', () => {
  let lab: HostLab;
  let artifacts: ArtifactServer;
  let registry: TestRegistry;
  let kept: string;
  const lanes = new Map<Adapter, Promise<SweepLane>>();
  const reports = new Map<string, Promise<SweepReport>>();

  // biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument of a hook destructured
  beforeAll(async ({}, suite) => {
    // with `-t` only the runtimes that are asked for are run
    const asked = suite.tasks.filter(({ mode }) => mode === 'run').map(({ name }) => name);
    lab = await createLab();
    const first = await lab.up('first'); // brings the network that the artifact server listens on
    artifacts = await ArtifactServer.listen(lab.controlAddress);
    await first.down();
    registry = new TestRegistry({ folder: join(lab.dir, 'registry'), listenAt: lab.controlAddress });
    await registry.start();
    kept = await mkdtemp(join(tmpdir(), 'hoodcloud-sweep-'));
    for (const [host, adapter] of ADAPTERS.entries()) {
      if (!asked.includes(titleOf(adapter))) continue;
      const choose = ALL ? undefined : { host, hosts: ADAPTERS.length };
      const release = (version: string, behaviour?: Behaviour) =>
        adapter === 'docker' ? imageRelease(registry, version, behaviour) : fileRelease(artifacts, version, behaviour);
      const good = [await release('v1'), await release('v2')] as const;
      const bad = await release('v3', 'ends_at_once');
      const earlier = await Promise.all(['k1', 'k2', 'k3'].map((version) => release(version)));
      const plan = {
        good,
        bad,
        choose: (all: Parameters<typeof sampleOf>[0]) => (choose ? sampleOf(all, choose) : shareOf(all, SHARE)),
      };
      const lane = SweepLane.open([lab, { adapter, name: adapter, kept, earlier, first: good[0] }], plan);
      lanes.set(adapter, lane);
      let turn: Promise<unknown> = lane;
      for (const direction of DIRECTIONS) {
        const report = turn.then(async () => (await lane).sweep(direction));
        reports.set(`${adapter} ${direction}`, report);
        turn = report;
      }
      turn.catch(() => undefined); // the tests that wait for it say it
    }
  });

  afterAll(async () => {
    await Promise.allSettled([...lanes.values(), ...reports.values()]);
    if (ALL) await keepSweep(await seen());
    await lab.clean();
    await artifacts.close();
    await registry.stop();
    await rm(kept, { recursive: true, force: true });
  });

  /** What came to its end, for docs/guarantees.md. */
  async function seen(): Promise<SweepRow[]> {
    const rows = [...reports].map(async ([name, report]) => {
      const [adapter = '', direction = ''] = name.split(' ');
      return { adapter, direction, share: SHARE, ...(await report) };
    });
    return (await Promise.allSettled(rows)).flatMap((row) => (row.status === 'fulfilled' ? [row.value] : []));
  }

  describe.each(ADAPTERS.map((adapter) => [titleOf(adapter), adapter] as const))('%s', (_, adapter) => {
    const reportOf = async (direction: Direction) => {
      const report = await reports.get(`${adapter} ${direction}`);
      if (report === undefined) throw new Error(`the ${direction} under ${adapter} was not run`);
      return report;
    };

    it.each(DIRECTIONS)(
      'of an %s is in an order that survives a power cut: fsync, rename, fsync of the folder (A4, A8)',
      {
        timeout,
      },
      async (direction) => {
        const { calls, lost } = await reportOf(direction);
        expect(lost).toEqual([]);
        expect(calls).toBeGreaterThan(50);
      },
    );

    it.each(DIRECTIONS)(
      'of an %s may be its last, or be refused: all old or all new, nothing left over, told as it is',
      {
        timeout,
      },
      async (direction) => {
        const { calls, harms, runs, seconds, broken } = await reportOf(direction);
        console.log(
          `${adapter}, ${direction}: ${calls} calls, ${harms} harms, ${runs} of them done in ${seconds.toFixed(0)} s`,
        );
        expect(broken.join('\n\n')).toBe('');
      },
    );

    it('never makes two instances live at once (A19)', { timeout }, async () => {
      await reportOf('undo');
      const { samples, most, doubles } = (await (await lanes.get(adapter))?.watched()) ?? {
        samples: 0,
        most: 0,
        doubles: [],
      };
      console.log(`${adapter}: a watcher looked ${samples} times and saw at most ${most} alive`);
      expect(doubles).toEqual([]);
      expect(most).toBe(1);
    });
  });
});
