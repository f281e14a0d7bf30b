import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayFixture } from '@hoodcloud/controlplane/gateway/testing/gateway-fixture';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { createLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Adapter, type CrashCell, cellsOf, nameOf } from './crash-cells.ts';
import { type CrashGround, CrashLane, type CrashOutcome } from './crash-lane.ts';
import { type Crash, crashTable } from './crash-table.ts';
import { badRelease, goodRelease } from './small-service.ts';

const LANES: readonly { readonly adapter: Adapter; readonly cells: readonly CrashCell[] }[] = [
  {
    adapter: 'systemd',
    cells: [...cellsOf('systemd', 'agent_killed', 'good'), ...cellsOf('systemd', 'agent_killed', 'bad')],
  },
  {
    adapter: 'systemd',
    cells: [...cellsOf('systemd', 'power_lost', 'good'), ...cellsOf('systemd', 'power_lost', 'bad')],
  },
  {
    adapter: 'process',
    cells: [...cellsOf('process', 'agent_killed', 'good'), ...cellsOf('process', 'agent_killed', 'bad')],
  },
];

const CELLS = LANES.flatMap(({ cells }) => cells);
const titleOf = (cell: CrashCell) => `${nameOf(cell)}: all old or all new, told once`;
const TABLE = 'is described by docs/crash-matrix.md';

/** Where the enabled unit must not come up by itself: something may be half changed (A18a). */
const HELD = /^(after:stop_node|(before|after):(install_artifact|write_configs|reload_daemon)|before:start_node)$/;

describe.skipIf(!hostsAvailable())('a crash in an upgrade', () => {
  let ground: CrashGround;
  const outcomes = new Map<string, Promise<CrashOutcome>>();
  const lanes: Promise<CrashLane>[] = [];

  // biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument of a hook destructured
  beforeAll(async ({}, suite) => {
    // with `-t` only the crashes that are asked for happen; the table needs all of them
    const asked = new Set(suite.tasks.filter(({ mode }) => mode === 'run').map(({ name }) => name));
    const isWanted = (cell: CrashCell) => asked.has(TABLE) || asked.has(titleOf(cell));
    ground = await prepareGround();
    console.log(`each crash keeps its log in ${ground.logs}`);
    for (const [index, { adapter, cells }] of LANES.entries()) {
      const wanted = cells.filter(isWanted);
      if (wanted.length > 0) lanes.push(runLane(adapter, `lane-${index}`, wanted));
    }
  });

  afterAll(async () => {
    await Promise.allSettled(lanes);
    await ground.lab.clean();
    await ground.artifacts.close();
    await ground.fixture.dispose();
  });

  /** Lanes run side by side, the crashes of one lane one after another; after a failure it goes on with a new host. */
  function runLane(adapter: Adapter, name: string, cells: readonly CrashCell[]): Promise<CrashLane> {
    let turn = CrashLane.open(ground, adapter, name);
    for (const cell of cells) {
      const lane = turn;
      const outcome = lane.then((open) => open.run(cell));
      outcomes.set(nameOf(cell), outcome);
      turn = outcome.then(
        () => lane,
        async () => {
          await (await lane).close();
          return CrashLane.open(ground, adapter, name);
        },
      );
    }
    turn.catch(() => undefined); // the tests of its cells say it
    return turn;
  }

  async function outcomeOf(cell: CrashCell): Promise<CrashOutcome> {
    const outcome = await outcomes.get(nameOf(cell));
    if (outcome === undefined) throw new Error(`${nameOf(cell)} was not run`);
    return outcome;
  }

  it.each(CELLS.map((cell) => [titleOf(cell), cell] as const))('%s', { timeout: 300_000 }, async (_, cell) => {
    const { log, host, atBoot, ...seen } = await outcomeOf(cell);
    const whole = cell.release === 'good' ? 'new' : 'old';
    const reported = cell.release === 'good' ? 'completed' : 'rolled_back';
    expect({ host, ...seen }, log).toEqual({ host: whole, reported, stops: 1, leftovers: [], attributesKept: true });
    if (cell.cut === 'power_lost') expect(atBoot, log).toMatch(/^(old|new|bad|down)$/);
    if (cell.cut === 'power_lost' && HELD.test(cell.point)) expect(atBoot, log).toBe('down');
  });

  it(TABLE, async () => {
    const crashes: Crash[] = await Promise.all(CELLS.map(async (cell) => ({ cell, outcome: await outcomeOf(cell) })));
    await expect(crashTable(crashes)).toMatchFileSnapshot('../../docs/crash-matrix.md');
  });
});

/** A lab, a gateway that its hosts reach, and the releases. */
async function prepareGround(): Promise<CrashGround> {
  const lab = await createLab();
  const first = await lab.up('first'); // brings the network that gateway and artifact server listen on
  const fixture = await GatewayFixture.create();
  const artifacts = await ArtifactServer.listen(lab.controlAddress);
  const { address: gateway } = await fixture.gateway({ listen: `${lab.controlAddress}:0` });
  const good = [await goodRelease('v1'), await goodRelease('v2')] as const;
  const bad = await badRelease('v3');
  for (const { version, binary } of [...good, bad]) artifacts.publish(version, binary);
  await first.down();
  const logs = process.env.HOODCLOUD_CRASH_LOGS ?? (await mkdtemp(join(tmpdir(), 'hoodcloud-crash-logs-')));
  return { lab, fixture, gateway, artifacts, good, bad, logs };
}
