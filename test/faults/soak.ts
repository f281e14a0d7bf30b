import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '@hoodcloud/domain/seeded-random';
import { until } from '@hoodcloud/testkit/until';
import { rssMb } from '../bench/process-cost.ts';
import { ROLES, type Role } from '../e2e/stack/control-plane.ts';
import { type FaultStand, untilPublished, withFaultStand } from './fault-stand.ts';
import { releaseOf } from './fleet.ts';
import { STRUCK, Strikes } from './strikes.ts';

const SIZES = { chains: 3, nodes: 6, upgradeMs: 4_000 };
const BATCH = 3;
/** Longest quiet time between two strikes, milliseconds. */
const QUIET_MS = 8_000;
const SAMPLE_MS = 5_000;
/** A round takes half a minute at least, so there are releases for more of them than there is time for. */
const ROUNDS_A_MINUTE = 4;

export interface SoakOptions {
  readonly minutes: number;
  /** Draws who is killed and when. */
  readonly seed: string;
}

/** What a soak has seen. The first three must be 0. */
export interface Soaked {
  /** Attempts that were commanded or done more than once. */
  readonly doubleCommands: number;
  /** Events of the outbox that a receiver did not have, of all three. */
  readonly lostEvents: number;
  /** Nodes whose rows say otherwise than their agents. */
  readonly disagreeing: number;
  readonly rollouts: number;
  readonly upgrades: number;
  readonly events: number;
  readonly kills: number;
  readonly peakRssMb: Readonly<Record<Role, number>>;
  readonly peakHandles: Readonly<Record<Role, number>>;
  readonly peakConnections: number;
}

/** Rollout after rollout over a simulated fleet for so long, while roles and stores are killed at random, and the judgement of what is left. */
export function soak(options: SoakOptions): Promise<Soaked> {
  const rounds = Math.ceil(options.minutes * ROUNDS_A_MINUTE) + 1;
  return withFaultStand({ ...SIZES, rounds }, (stand) => run(stand, options));
}

async function run(stand: FaultStand, { minutes, seed }: SoakOptions): Promise<Soaked> {
  const end = Date.now() + minutes * 60_000;
  const peaks = new Peaks(stand);
  const over = new AbortController();
  const beside = [strikeAtRandom(stand, seed, over.signal), peaks.watch(over.signal)];
  let round = 0;
  while (Date.now() < end) {
    round += 1;
    const ids = await started(stand, round);
    await untilCompleted(stand, ids);
    console.log(`round ${round}: ${ids.length} rollouts completed`);
  }
  over.abort();
  const [kills] = await Promise.all(beside);
  await stand.plane.startRoles(...ROLES.filter((role) => !stand.plane.role(role).running));
  await untilPublished(stand.plane.db);
  const lostEvents = await lost(stand);
  return { ...(await judge(stand, round)), lostEvents, kills: kills ?? 0, ...peaks.seen() };
}

/** The API may be killed in the middle of it: what it had made by then is gone on with. */
async function started({ fleet, plane }: FaultStand, round: number): Promise<string[]> {
  return until(`the rollouts of round ${round} to be started`, async () => {
    const { version } = releaseOf(round);
    const made = await plane.db.selectFrom('rollouts').selectAll().where('target_version', '=', version).execute();
    const without = fleet.chains.filter((chain) => !made.some(({ chain_profile_id }) => chain_profile_id === chain));
    if (without.length > 0) await fleet.startRollouts({ batchSize: BATCH, round, chains: without });
    for (const { id, status } of made) if (status === 'pending') await fleet.start(id);
    const ids = await plane.db.selectFrom('rollouts').select('id').where('target_version', '=', version).execute();
    return ids.length === fleet.chains.length && ids.map(({ id }) => id);
  });
}

async function untilCompleted({ plane }: FaultStand, ids: readonly string[]): Promise<void> {
  await until('the rollouts to complete', async () => {
    const rows = await plane.db
      .selectFrom('rollouts')
      .select(['status', 'status_reason'])
      .where('id', 'in', ids)
      .where('status', '<>', 'completed')
      .execute();
    if (rows.length === 0) return true;
    throw new Error(JSON.stringify(rows));
  });
}

/** @returns how often something was killed */
async function strikeAtRandom({ plane, stores }: FaultStand, seed: string, signal: AbortSignal): Promise<number> {
  const random = seededRandom(`soak ${seed}`);
  const strikes = new Strikes(plane, stores);
  let kills = 0;
  while (!signal.aborted) {
    await sleep(random() * QUIET_MS);
    if (signal.aborted) break;
    const name = STRUCK[Math.floor(random() * STRUCK.length)];
    if (name === undefined) throw new Error('there is nobody to strike');
    await strikes.strike(name);
    kills += 1;
  }
  return kills;
}

async function lost({ plane, receivers }: FaultStand): Promise<number> {
  await receivers.untilComplete(plane.db); // throws with what is missing when it never comes
  const { receipts, written } = await receivers.compare(plane.db);
  return receipts.reduce((sum, { events }) => sum + (written - events), 0);
}

async function judge({ plane, fleet }: FaultStand, rounds: number) {
  const done = fleet.agents.flatMap((agent) => [...agent.done.values()]);
  const doubleCommands = done.filter(({ times, commandIds }) => times > 1 || commandIds.size > 1).length;
  const rows = await until('heartbeats of all', async () => {
    const found = await plane.db.selectFrom('node_components').select(['node_id', 'running_checksum']).execute();
    return found.length === fleet.agents.length && found;
  });
  const states = await plane.db.selectFrom('node_config_state').select(['node_id', 'binary_version']).execute();
  const wanted = releaseOf(rounds);
  const disagreeing = fleet.agents.filter(({ nodeId, running }) => {
    const row = rows.find(({ node_id }) => node_id === nodeId);
    const state = states.find(({ node_id }) => node_id === nodeId);
    return running !== wanted.checksum || row?.running_checksum !== running || state?.binary_version !== wanted.version;
  }).length;
  const { events } = await plane.db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('events'))
    .executeTakeFirstOrThrow();
  const counts = { rollouts: rounds * fleet.chains.length, upgrades: done.length, events: Number(events) };
  return { doubleCommands, disagreeing, ...counts };
}

/** The most that each role ever held. */
class Peaks {
  readonly #stand: FaultStand;
  readonly #rss = new Map<Role, number>();
  readonly #handles = new Map<Role, number>();
  #connections = 0;

  constructor(stand: FaultStand) {
    this.#stand = stand;
  }

  async watch(signal: AbortSignal): Promise<number> {
    while (!signal.aborted) {
      await sleep(SAMPLE_MS);
      for (const role of ROLES) this.#look(role);
      const connections = await this.#stand.stores.countConnections().catch(() => 0); // Postgres is away now and then
      this.#connections = Math.max(this.#connections, connections);
    }
    return 0;
  }

  seen() {
    const of = (values: Map<Role, number>) =>
      Object.fromEntries(ROLES.map((role) => [role, Math.round(values.get(role) ?? 0)])) as Record<Role, number>;
    return { peakRssMb: of(this.#rss), peakHandles: of(this.#handles), peakConnections: this.#connections };
  }

  #look(role: Role): void {
    try {
      const { pid } = this.#stand.plane.role(role);
      this.#rss.set(role, Math.max(this.#rss.get(role) ?? 0, rssMb(pid) || 0));
      this.#handles.set(role, Math.max(this.#handles.get(role) ?? 0, readdirSync(`/proc/${pid}/fd`).length));
    } catch (error) {
      if (this.#stand.plane.role(role).running) console.log(`${role} could not be looked at: ${error}`);
    }
  }
}
