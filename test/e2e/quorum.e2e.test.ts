import type { Page } from '@hoodcloud/contracts/http/common';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { COMETBFT_ON_HOST } from '@hoodcloud/testkit/chains/cometbft-host';
import { height } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { type HeightReport, HeightWatcher, nodesThatMakeBlocks } from '@hoodcloud/testkit/chains/height-watcher';
import { hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN } from './cometbft-chain-files.ts';
import type { FleetNode } from './cometbft-fleet.ts';
import { type LiveFleet, startLiveFleet } from './live-fleet.ts';
import type { ControlPlane } from './stack/control-plane.ts';
import { Hoodctl } from './stack/hoodctl.ts';

const MINUTE = 60_000;
const NAMES = ['quorum-a', 'quorum-b', 'quorum-c', 'quorum-d'];
/** So long every start takes in both runs, as that of a node with a large state does: a halt can't slip between two looks. */
const START_SECONDS = 20;
/** A halt is so many times as long as the longest pause between blocks in the guarded run. */
const HALT_FACTOR = 2;

describe.skipIf(!hostsAvailable())('the quorum guard on a live chain of four validators', () => {
  let live: LiveFleet;
  let plane: ControlPlane;
  let fleet: readonly FleetNode[];
  /** What was seen of the chain during the guarded run, which comes first; what the other one is compared with. */
  let guarded: HeightReport | undefined;

  beforeAll(async () => {
    live = await startLiveFleet(NAMES, {
      quorum: {},
      // long enough after so slow a start for a validator to have caught up and signed
      health: { health_wait_seconds: 20 },
      prepare: startSlowly,
    });
    ({ plane, nodes: fleet } = live);
    await until('the power of every validator to be told', async () => {
      const powers = await plane.db.selectFrom('nodes').select('voting_power').execute();
      return powers.every(({ voting_power }) => voting_power !== null);
    });
    // What the watcher counts is nodes: it counts voting power too only when all have the same.
    const powers = await plane.db.selectFrom('nodes').select('voting_power').distinct().execute();
    expect(powers).toHaveLength(1);
  }, 10 * MINUTE);

  afterAll(async () => live?.dispose());

  const watch = () => new HeightWatcher(fleet.map(({ validator }) => validator.rpcUrl));

  async function latest(): Promise<RolloutDetail> {
    const { stdout } = await plane.hoodctl.run('rollout', 'status', 'latest', '--output', 'json');
    return JSON.parse(stdout) as RolloutDetail;
  }

  /** Waits until so many nodes whose turn it is give the guard as why they have not begun, by the API. */
  async function untilTheyWaitForQuorum(nodes: number): Promise<void> {
    const { id } = await latest();
    await until(`${nodes} nodes to wait for the quorum guard`, async () => {
      const { items } = await plane.hoodctl.get<Page<RolloutNodeView>>(`/rollouts/${id}/nodes`);
      const waiting = items.filter(({ status, batch_index: batch }) => status === 'pending' && batch === 0);
      return waiting.filter(({ why }) => why.some(({ code }) => code === 'quorum_at_risk')).length === nodes;
    });
  }

  function begin(...flags: readonly string[]): Promise<unknown> {
    return plane.hoodctl.does('rollout', 'create', '--chain', CHAIN, '--type', 'validator', ...flags, '--start');
  }

  /** Waits until the rollout says that others of it wait for the quorum; a slow machine makes agents seem silent meanwhile. */
  async function untilHeld(says = /./): Promise<void> {
    await until('the quorum guard to hold the others', async () =>
      (await latest()).why.some(({ code, sentence }) => code === 'quorum_at_risk' && says.test(sentence)),
    );
  }

  const untilDone = () =>
    until('the rollout to be over', async () => (await latest()).status === 'completed', 9 * MINUTE);

  /** The most nodes of a rollout that were in flight at one moment, by its history. */
  async function mostInFlight(rolloutId: string): Promise<number> {
    const { items } = await plane.hoodctl.get<Page<EventView>>(`/rollouts/${rolloutId}/events?limit=500`);
    const kinds = items.toSorted((one, other) => one.seq - other.seq).map(({ kind }) => kind);
    let [now, most] = [0, 0];
    for (const kind of kinds) {
      if (kind === 'node_upgrade_started') now += 1;
      if (kind === 'node_upgrade_completed') now -= 1;
      most = Math.max(most, now);
    }
    return most;
  }

  it(
    'batches of two: never more than one validator is down, and the other one waits and says why',
    async () => {
      const watcher = watch();
      await begin('--upgrade', 'v0.38.21', '--strategy', 'rolling', '--batch-size', '2');
      await untilHeld(/^With quorum-. down, 0\.50 of the voting power of cometbft would be, and it must/);
      await untilTheyWaitForQuorum(1);
      await untilDone();
      const seen = await watcher.stop();
      const rollout = await latest();
      console.log('guarded:', JSON.stringify(seen));
      expect(rollout).toMatchObject({ status: 'completed', succeeded_nodes: 4 });
      expect(await mostInFlight(rollout.id)).toBe(1);
      expect(seen).toMatchObject({ fewestUp: NAMES.length - 1, longestHaltMs: 0 });
      guarded = seen;
    },
    15 * MINUTE,
  );

  it(
    'all at once is held alike; with the guard set aside the same run halts the chain, which then recovers',
    async () => {
      const refused = await plane.hoodctl.run(
        'rollout',
        'create',
        '--chain',
        CHAIN,
        '--type',
        'validator',
        '--upgrade',
        'v0.38.17',
        '--strategy',
        'all_at_once',
      );
      expect(refused.stderr).toContain('All nodes at once are 1.00 of the voting power of cometbft');
      const watcher = watch();
      // a node whose health is judged while the chain stands proves nothing: it is watched until blocks come again
      const acknowledged = ['--acknowledge-quorum-share', '1.00', '--health-wait', '60s'];
      await begin('--upgrade', 'v0.38.17', '--strategy', 'all_at_once', ...acknowledged);
      await untilHeld();
      await untilTheyWaitForQuorum(NAMES.length - 1);
      const { id } = await latest();
      const { key } = await createApiKey(plane.db, { name: 'bold', createdBy: 'test', scopes: ['override'] });
      const boldHoodctl = new Hoodctl(live.programs.hoodctl, { url: plane.url, apiKey: key });
      expect(await mostInFlight(id)).toBe(1);
      expect(watcher.report).toMatchObject({ longestHaltMs: 0 });
      await boldHoodctl.does('rollout', 'override', id, `quorum/${CHAIN}`, '--reason', 'the chain may stand');
      await untilDone();
      const seen = await watcher.stop();
      console.log('set aside:', JSON.stringify(seen));
      expect(await mostInFlight(id)).toBeGreaterThanOrEqual(3);
      expect(seen.fewestUp).toBeLessThan(nodesThatMakeBlocks(NAMES.length));
      expect(seen.longestHaltMs).toBeGreaterThan(HALT_FACTOR * (guarded?.longestPauseMs ?? Number.POSITIVE_INFINITY));
      const stood = await height(fleet[0]?.validator.rpcUrl ?? '');
      expect(stood).toBeGreaterThan(seen.firstHeight);
      await until(
        'the chain to make blocks again',
        async () => (await height(fleet[0]?.validator.rpcUrl ?? '')) > stood + 1,
      );
    },
    15 * MINUTE,
  );
});

/** Has every later start of a validator take its time. */
async function startSlowly({ host }: FleetNode): Promise<void> {
  const text = `[Service]\nExecStartPre=/bin/sleep ${START_SECONDS}\n`;
  await host.writeFile(`/etc/systemd/system/${COMETBFT_ON_HOST.unit}.d/slow-start.conf`, text);
  await host.must('systemctl', 'daemon-reload');
}
