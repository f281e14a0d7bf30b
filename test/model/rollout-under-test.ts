import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { sweep } from '@hoodcloud/controlplane/engine/engine-sweep';
import { databaseNow } from '@hoodcloud/controlplane/rollouts/database-clock';
import { loadRolloutSnapshot } from '@hoodcloud/controlplane/rollouts/load-rollout-snapshot';
import { rolloutWorkflowId } from '@hoodcloud/controlplane/workflows/workflow-ids';
import { attemptId } from '@hoodcloud/domain/agent-operation';
import { planBatches } from '@hoodcloud/domain/batch-plan';
import { decideNext } from '@hoodcloud/domain/decide-next';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { reason } from '@hoodcloud/domain/reasons';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import type { RolloutDecision } from '@hoodcloud/domain/rollout-decision';
import type { RolloutFacts, RolloutNodeFacts, RolloutSnapshot } from '@hoodcloud/domain/rollout-snapshot';
import { type Coverage, InvariantViolation } from '@hoodcloud/domain/testing/coverage';
import { checkWorld } from '@hoodcloud/domain/testing/rollout-invariants';
import { RolloutWorld } from '@hoodcloud/domain/testing/rollout-world';
import { aRow } from '@hoodcloud/domain/testing/snapshot-builder';
import { until } from '@hoodcloud/testkit/until';
import { expect } from 'vitest';
import type { ModelBench, OrderAnswer } from './model-bench.ts';
import { toldDecision } from './picture.ts';
import type { SimulatedAgent } from './simulated-agent.ts';

const NO_LIMIT = { maxBlockIntervalMs: async () => null, trustRules: async () => null };
const QUIET_MS = 120_000;
/** Where the API names a control otherwise than the rows do. */
const PATHS: Readonly<Partial<Record<RolloutControlKind, string>>> = { approve_canary: 'approve' };

const LONGER_THAN_ANY_RUN_MS = 600_000;
/** Times that rules compare with now. */
const TIMES = {
  rollouts: ['status_changed_at', 'started_at', 'ended_at'],
  rollout_nodes: ['offered_at', 'started_at', 'ended_at'],
  rollout_controls: ['created_at'],
} as const;

/** How a running attempt goes on. */
export interface HowItGoes {
  readonly well: boolean;
  /** The agent put back what was there. */
  readonly undone: boolean;
}

/** Where a rollout stands when nothing happens any more by itself. */
export interface Standstill {
  readonly world: RolloutWorld;
  /** What the workflow decided last, and decides again, by `toldDecision`. */
  readonly told: string;
}

/** A rollout of the real control plane, with what a test does to it and sees of it. */
export class RolloutUnderTest {
  readonly id: string;
  readonly agents: readonly SimulatedAgent[];
  readonly bench: ModelBench;
  readonly #coverage: Coverage;
  /** What the judge of health finds when it looks next, by node. */
  readonly #health = new Map<string, boolean>();

  constructor(parts: { bench: ModelBench; id: string; agents: readonly SimulatedAgent[]; coverage: Coverage }) {
    this.bench = parts.bench;
    this.id = parts.id;
    this.agents = parts.agents;
    this.#coverage = parts.coverage;
    this.bench.lab.script.health = (nodeId) => {
      const well = this.#health.get(nodeId);
      return well === undefined ? null : well ? [] : [reason('crash_loop', { restarts: 4 })];
    };
  }

  agentOf(nodeId: string): SimulatedAgent {
    const agent = this.agents.find((one) => one.nodeId === nodeId);
    if (!agent) throw new Error(`no agent of node ${nodeId}`);
    return agent;
  }

  /** Orders a control at the API. */
  order(kind: RolloutControlKind, nodeId: string | null): Promise<OrderAnswer> {
    const name = PATHS[kind] ?? kind;
    const path = nodeId ? `/rollouts/${this.id}/nodes/${nodeId}/${name}` : `/rollouts/${this.id}/${name}`;
    return this.bench.api.call('POST', path, { reason: 'the model says so' });
  }

  /** Sends a signal straight to the workflow, past the API (C7a). */
  async signal(kind: string): Promise<void> {
    await this.bench.lab.client.workflow.getHandle(rolloutWorkflowId(this.id)).signal(kind);
  }

  /** Ends the workflow as a lost engine would; what wakes it afterwards starts it anew (B4). */
  async loseWorkflow(): Promise<void> {
    await this.bench.lab.client.workflow.getHandle(rolloutWorkflowId(this.id)).terminate('lost');
    await sweep(this.bench.lab.db, LONGER_THAN_ANY_RUN_MS);
  }

  /** Moves everything that has a time into the past, while nothing runs that has a deadline. */
  async letHoursPass(): Promise<void> {
    const { rows } = await this.look();
    if (rows.some((row) => isInFlight(row.status))) return;
    for (const [table, columns] of Object.entries(TIMES)) {
      const moved = columns.map((column) => `${column} = ${column} - interval '9 hours'`).join(', ');
      const own = table === 'rollouts' ? 'id' : 'rollout_id';
      await this.bench.lab.database.pool.query(`update ${table} set ${moved} where ${own} = $1`, [this.id]);
    }
  }

  /** Lets a running attempt go on: the agent answers, or its health is judged. */
  async goOn(row: RolloutNodeFacts, { well, undone }: HowItGoes): Promise<void> {
    if (row.status === 'validating') {
      this.#health.set(row.nodeId, well);
      return;
    }
    // what is told to an agent that was told already counts for nothing
    const answer = well ? 'completed' : undone ? 'rolled_back' : 'refused';
    const attempt = attemptId(this.id, row.nodeId, row.attemptCount);
    await until(`the command of ${attempt}`, async () => this.agentOf(row.nodeId).answer(attempt, answer), QUIET_MS);
  }

  /** What the API shows is what the rows say. */
  async #requireApiAgrees(world: RolloutWorld): Promise<void> {
    const { body: shown } = await this.bench.api.call<RolloutDetail>('GET', `/rollouts/${this.id}`);
    expect({ status: shown.status, direction: shown.direction }).toEqual({
      status: world.rollout.status,
      direction: world.rollout.direction,
    });
    if (!world.rollout.targetsResolved || world.rollout.status === 'pending') return;
    const { body: page } = await this.bench.api.call<{ items: RolloutNodeView[] }>('GET', `/rollouts/${this.id}/nodes`);
    const told = page.items.map((node) => [node.node_id, node.status, node.attempt_count]);
    const known = world.rows.map((row) => [row.nodeId, row.status, row.attemptCount]);
    expect(told.sort()).toEqual(known.sort());
  }

  /** The world as the rows have it now, its rules checked. */
  async look(): Promise<RolloutWorld> {
    const { world } = await this.#look();
    return world;
  }

  /** Waits until everything that was ordered and answered has been obeyed. */
  async untilQuiet(): Promise<Standstill> {
    const standstill = await until('the rollout to stand still', () => this.#quiet().catch(toldAtOnce), QUIET_MS);
    if (standstill instanceof InvariantViolation) throw standstill;
    this.#health.clear();
    await this.#requireApiAgrees(standstill.world);
    return standstill;
  }

  async #quiet(): Promise<Standstill> {
    for (const agent of this.agents) agent.doTheRest();
    const before = await this.#workflow();
    const { world, snapshot, stored, open, messages } = await this.#look();
    const due = decideNext(snapshot, world.now);
    const told = toldDecision(due);
    if (messages > 0) throw new Error(`${messages} messages to the engine wait`);
    if (stored === null && snapshot.controls.length === 0) return { world, told }; // nobody has asked yet
    const busy = snapshot.nodes.filter((row) => isInFlight(row.status) && !open.has(row.nodeId));
    if (busy.length > 0) throw new Error(`${busy.map((row) => `${row.nodeId} ${row.status}`).join(', ')} go on`);
    if (told !== stored) throw new Error(`the rows say ${told}, the workflow obeyed ${stored}`);
    if (due.kind === 'run' || due.kind === 'roll_back') throw new Error(`${told} is about to be obeyed`);
    if (due.kind === 'wait' && due.until !== null) throw new Error(`${told} until ${due.until}`);
    if (told.includes('targets_unresolved')) throw new Error('its targets are about to be resolved');
    if (due.status !== snapshot.rollout.status) throw new Error(`${snapshot.rollout.status} is about to change`);
    // runs while there is anything to wait for, has ended when there is not, and has heard every signal
    const wanted = due.kind === 'finish' ? 'COMPLETED' : 'RUNNING';
    const after = await this.#workflow();
    if (after.status !== wanted) throw new Error(`the workflow is ${after.status}, not ${wanted}`);
    if (before.at !== after.at || after.works) throw new Error('the workflow is about to do something');
    return { world, told };
  }

  /** Where the workflow stands. */
  async #workflow(): Promise<{ readonly status: string; readonly at: string; readonly works: boolean }> {
    const handle = this.bench.lab.client.workflow.getHandle(rolloutWorkflowId(this.id));
    try {
      const { status, runId, historyLength, raw } = await handle.describe();
      return { status: status.name, at: `${runId} ${historyLength}`, works: Boolean(raw.pendingWorkflowTask) };
    } catch (error) {
      if (!(error instanceof Error && error.name === 'WorkflowNotFoundError')) throw error;
      return { status: 'not there', at: '', works: false };
    }
  }

  async #look() {
    return this.bench.lab.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const now = await databaseNow(tx);
        const snapshot = await loadRolloutSnapshot(tx, this.id, NO_LIMIT, new Date(now), 'whole');
        if (!snapshot) throw new Error(`rollout ${this.id} is gone`);
        const rollout = await tx
          .selectFrom('rollouts')
          .select('last_decision')
          .where('id', '=', this.id)
          .executeTakeFirstOrThrow();
        const { messages } = await tx
          .selectFrom('engine_messages')
          .select((eb) => eb.fn.countAll<number>().as('messages'))
          .executeTakeFirstOrThrow();
        const commands = await tx
          .selectFrom('agent_commands')
          .select('node_id')
          .where('rollout_id', '=', this.id)
          .where('operation', '=', 'UPGRADE')
          .where('ended_at', 'is', null)
          .execute();
        const validations = await tx
          .selectFrom('health_validations')
          .select('node_id')
          .where('rollout_id', '=', this.id)
          .where('status', '=', 'open')
          .execute();
        const judged = (nodeId: string) => this.#health.has(nodeId);
        const unjudged = validations.map((row) => row.node_id).filter((nodeId) => !judged(nodeId));
        const open = new Set([...commands.map((row) => row.node_id), ...unjudged]);
        const world = this.#worldOf(snapshot, now);
        checkWorld(world);
        return {
          world,
          snapshot,
          open,
          messages,
          stored: rollout.last_decision && toldDecision(rollout.last_decision as RolloutDecision),
        };
      });
  }

  /** Rows that are not resolved yet are planned as the product plans them. */
  #worldOf(snapshot: RolloutSnapshot, now: number): RolloutWorld {
    const { rollout } = snapshot;
    const rows = rollout.targetsResolved ? snapshot.nodes : plannedRows(rollout, this.agents);
    const world = new RolloutWorld({ ...rollout, targetsResolved: true }, rows, this.#coverage);
    world.controls = [...snapshot.controls];
    world.chain = snapshot.chain;
    if (rollout.targetsResolved) world.fleet = new Map(snapshot.fleet);
    world.now = now;
    return world;
  }
}

/** What no waiting makes good again. @throws everything else, so that it is looked again */
function toldAtOnce(error: unknown): InvariantViolation {
  if (error instanceof InvariantViolation) return error;
  throw error;
}

function plannedRows(rollout: RolloutFacts, agents: readonly SimulatedAgent[]): RolloutNodeFacts[] {
  const nodes = agents.map(({ nodeId }) => nodeId).sort();
  const batches = planBatches({ ...rollout, seed: rollout.id, nodes });
  return nodes.map((nodeId) => aRow(nodeId, { batchIndex: batches.get(nodeId) ?? 0 }));
}
