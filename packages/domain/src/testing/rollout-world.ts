import { askedNodes } from '../asked-nodes.ts';
import { judgeAttemptStart } from '../attempt-start.ts';
import { controlFacts, controlVerdict } from '../control-verdict.ts';
import { decideNext } from '../decide-next.ts';
import { isInFlight, NODE_UPGRADE_TRANSITIONS, type NodeUpgradeStatus } from '../node-upgrade-status.ts';
import type { RolloutControl, RolloutControlKind } from '../rollout-control.ts';
import type { NodeToRun, RolloutDecision } from '../rollout-decision.ts';
import { isFailure } from '../rollout-rows.ts';
import type {
  ChainFacts,
  FleetNodeFacts,
  RolloutFacts,
  RolloutNodeFacts,
  RolloutSnapshot,
} from '../rollout-snapshot.ts';
import { isEndedRollout, ROLLOUT_TRANSITIONS, type RolloutStatus } from '../rollout-status.ts';
import { assertTransition } from '../transition.ts';
import { Coverage } from './coverage.ts';
import { aChain, aControl, aNode } from './snapshot-builder.ts';

/** Controls that name a node. */
const OF_A_NODE: readonly RolloutControlKind[] = ['retry', 'skip'];

/** Controls that a signal sent by hand can bring, past the rules of the API (C7a). */
const BY_HAND: readonly RolloutControlKind[] = ['pause', 'resume', 'cancel', 'force', 'approve_canary'];

/**
 * For tests: a small world that obeys `decideNext` as the control plane does, with rows, controls, children and hosts,
 * but without engine and database. Every status change goes through the transition tables.
 */
export class RolloutWorld {
  now = 1_000;
  rollout: RolloutFacts;
  readonly rows: RolloutNodeFacts[];
  readonly coverage: Coverage;
  controls: RolloutControl[] = [];
  chain: ChainFacts = aChain({ bestHeight: 1, heightGrewAt: 1_000, maxBlockIntervalMs: 3_600_000 });
  fleet: Map<string, FleetNodeFacts>;
  budgets: RolloutSnapshot['budgets'] = [];
  quorum: RolloutSnapshot['quorum'] = null;
  /** Child workflows that were started for an attempt and have not taken their first step yet. */
  children: NodeToRun[] = [];
  /** Position of each node's row; shared by copies, since rows keep their places. */
  readonly #at: ReadonlyMap<string, number>;

  /** @param original what the copy shares with it: the places of the rows */
  constructor(
    rollout: RolloutFacts,
    rows: readonly RolloutNodeFacts[],
    coverage: Coverage = new Coverage(),
    original?: RolloutWorld,
  ) {
    this.rollout = rollout;
    this.rows = [...rows];
    this.coverage = coverage;
    this.fleet = new Map(original?.fleet ?? rows.map((row) => [row.nodeId, aNode(row.nodeId)]));
    this.#at = original ? original.#at : new Map(rows.map((row, index) => [row.nodeId, index]));
  }

  /** A copy that goes its own way; what it reaches is counted together. */
  copy(): RolloutWorld {
    const copy = new RolloutWorld(this.rollout, this.rows, this.coverage, this);
    copy.now = this.now;
    copy.controls = [...this.controls];
    copy.chain = this.chain;
    copy.children = [...this.children];
    return copy;
  }

  /** The row of a node, undefined when the rollout has none. */
  row(nodeId: string | null | undefined): RolloutNodeFacts | undefined {
    const index = nodeId ? this.#at.get(nodeId) : undefined;
    return index === undefined ? undefined : this.rows[index];
  }

  snapshot(): RolloutSnapshot {
    const { rollout, rows: nodes, controls, chain, fleet } = this;
    return {
      rollout,
      nodes: [...nodes],
      controls: [...controls],
      chain,
      fleet: new Map(fleet),
      overrides: [],
      windows: [],
      freezes: [],
      budgets: this.budgets,
      quorum: this.quorum,
    };
  }

  inFlight(): RolloutNodeFacts[] {
    return this.rows.filter((row) => isInFlight(row.status));
  }

  /** Asks what is next; nothing is changed. */
  ask(): RolloutDecision {
    return decideNext(this.snapshot(), this.now);
  }

  /** The same question with a fleet of those alone that it may ask about. */
  askKnowingOnlyTheAsked(): RolloutDecision {
    const snapshot = this.snapshot();
    const asked = askedNodes(snapshot, this.now);
    const fleet = new Map([...snapshot.fleet].filter(([nodeId]) => asked.has(nodeId)));
    return decideNext({ ...snapshot, fleet }, this.now);
  }

  /** Does what a decision says. */
  obey(decision: RolloutDecision): void {
    if (decision.kind === 'roll_back') {
      this.#beginRollback();
      return;
    }
    const reason = decision.kind === 'pause' || decision.kind === 'finish' ? decision.reason.code : null;
    if (decision.kind === 'finish') this.#leaveOutPending(reason);
    this.#setStatus(decision.status, reason);
    if (decision.kind !== 'run') return;
    for (const node of decision.nodes) {
      this.#change(node.nodeId, { offeredAt: this.now });
      // one run of a node's workflow at a time: a second start changes nothing
      if (this.children.some(({ nodeId }) => nodeId === node.nodeId)) continue;
      this.children.push(node);
    }
  }

  /**
   * A person orders something; false when the control plane refuses it.
   * @param byHand by a signal, which is stored whatever the rules say
   */
  order(kind: RolloutControlKind, nodeId: string | null = null, byHand = false): boolean {
    const named = OF_A_NODE.includes(kind) ? nodeId : null;
    // a component's group orders what people may not order of it (C2)
    const facts = { ...controlFacts(this.snapshot(), { rollout: null, node: null }, named), inGroup: false };
    if (!controlVerdict(kind, facts).legal && !(byHand && BY_HAND.includes(kind))) return false;
    const failuresAcknowledged = kind === 'resume' ? this.rows.filter(isFailure).length : null;
    this.controls.push(aControl(kind, this.now, { nodeId: named, failuresAcknowledged }));
    const row = this.row(named);
    if (kind === 'retry' && row) this.#change(row.nodeId, { requestedAttempt: row.attemptCount + 1, offeredAt: null });
    if (kind === 'skip' && row) this.#setNode(row, 'skipped', { endedAt: this.now });
    return true;
  }

  /**
   * The child takes its first step, or is lost.
   * @param mayBegin the reservation of its places; when it says no the offer is given up
   */
  takeFirstStep(
    index: number,
    lost: boolean,
    mayBegin: (row: RolloutNodeFacts) => boolean = () => true,
  ): 'started' | 'skipped' | 'nothing' {
    const [child] = this.children.splice(index, 1);
    const row = this.row(child?.nodeId);
    if (lost || child === undefined || row === undefined) return 'nothing';
    const { rollout, controls, now } = this;
    if (judgeAttemptStart({ rollout, controls, row, attempt: child.attempt, now }).kind !== 'start') return 'nothing';
    if (row.status === 'pending' && !this.fleet.get(row.nodeId)?.online) {
      this.#setNode(row, 'skipped', { statusReason: 'agent_offline', endedAt: this.now, offeredAt: null });
      return 'skipped';
    }
    if (!mayBegin(row)) {
      this.#change(row.nodeId, { offeredAt: null });
      return 'nothing';
    }
    const begun = { attemptCount: child.attempt, startedAt: this.now, endedAt: null, offeredAt: null };
    this.#setNode(row, 'in_progress', begun);
    return 'started';
  }

  /** The attempt of a row goes on: installed and being validated, or ended well or badly. */
  advance(row: RolloutNodeFacts, well: boolean, undone: boolean): void {
    const back = row.attemptDirection === 'rollback';
    if (row.status === 'in_progress' && well) {
      this.#setNode(row, 'validating', {});
      return;
    }
    const good: NodeUpgradeStatus = back ? 'rolled_back' : 'succeeded';
    const bad: NodeUpgradeStatus = undone && !back && row.status === 'in_progress' ? 'rolled_back' : 'failed';
    const durationMs = well && !back ? this.now - (row.startedAt ?? this.now) : row.durationMs;
    this.#setNode(row, well ? good : bad, { endedAt: this.now, durationMs });
  }

  /** Whoever had no turn has none any more: every node of an ended rollout is terminal. */
  #leaveOutPending(statusReason: string | null): void {
    if (isEndedRollout(this.rollout.status)) return;
    for (const row of this.rows.filter(({ status }) => status === 'pending')) {
      this.#setNode(row, 'skipped', { statusReason, endedAt: this.now, offeredAt: null });
    }
  }

  #beginRollback(): void {
    this.#setStatus('running', 'rollback_by_operator');
    this.rollout = { ...this.rollout, direction: 'rollback' };
    for (const { nodeId, status, attemptCount } of this.rows) {
      if (status !== 'succeeded') continue;
      const attemptDirection = 'rollback' as const;
      this.#change(nodeId, { requestedAttempt: attemptCount + 1, attemptDirection, offeredAt: null });
    }
  }

  #setStatus(status: RolloutStatus, statusReason: string | null): void {
    if (status === this.rollout.status) return;
    assertTransition('rollout', ROLLOUT_TRANSITIONS, this.rollout.status, status);
    this.coverage.edge('rollout', this.rollout.status, status);
    this.rollout = { ...this.rollout, status, statusReason, statusChangedAt: this.now };
  }

  #setNode(row: RolloutNodeFacts, status: NodeUpgradeStatus, change: Partial<RolloutNodeFacts>): void {
    assertTransition('rollout node', NODE_UPGRADE_TRANSITIONS, row.status, status);
    this.coverage.edge('node', row.status, status);
    this.#change(row.nodeId, { ...change, status });
  }

  #change(nodeId: string, change: Partial<RolloutNodeFacts>): void {
    const index = this.#at.get(nodeId);
    const row = this.row(nodeId);
    if (index !== undefined && row) this.rows[index] = { ...row, ...change };
  }
}
