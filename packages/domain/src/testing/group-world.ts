import { decideGroup } from '../decide-group.ts';
import { groupControlVerdict, skippableComponent } from '../group-control-verdict.ts';
import type { ComponentOrder, GroupDecision } from '../group-decision.ts';
import type { ComponentRolloutFacts, GroupComponentFacts, GroupFacts, GroupSnapshot } from '../group-snapshot.ts';
import { reason, sentenceOf } from '../reasons.ts';
import type { RolloutGroupControl, RolloutGroupControlKind } from '../rollout-group-control.ts';
import { type FailurePolicy, ROLLOUT_GROUP_TRANSITIONS } from '../rollout-group-status.ts';
import { isEndedRollout, ROLLOUT_TRANSITIONS, type RolloutStatus } from '../rollout-status.ts';
import { assertTransition } from '../transition.ts';

/** What a component's rollout does next by itself in the small world. */
export type RolloutStep = 'node' | 'complete' | 'fail' | 'obey' | 'heal';

/** One thing that happened, for the invariants: what was started, ordered or changed, in order. */
export type GroupEvent =
  | { readonly kind: 'started'; readonly index: number; readonly wellBefore: boolean }
  | { readonly kind: 'turned_back'; readonly index: number };

const NODE = { nodeId: 'n1', online: true, lastHeartbeatAt: 0, quarantined: false, leftStopped: false } as const;

/**
 * For tests: a small world that obeys `decideGroup` as the control plane does. Each component has one node; its rollout is
 * a few facts that a test moves. Every status change goes through the transition tables.
 */
export class GroupWorld {
  now = 1_000;
  group: GroupFacts;
  components: GroupComponentFacts[];
  controls: RolloutGroupControl[] = [];
  readonly events: GroupEvent[] = [];

  constructor(failurePolicy: FailurePolicy, size: number) {
    this.group = {
      id: 'g1',
      status: 'pending',
      statusReason: null,
      statusChangedAt: 0,
      direction: 'upgrade',
      rollbackBeganAt: null,
      failurePolicy,
      gateTimeoutMs: 100,
    };
    this.components = Array.from({ length: size }, (_, index) => ({
      index,
      binaryName: `c${index}`,
      rollout: null,
      gateNodes: [],
    }));
  }

  /** The same world, to be moved on its own. */
  copy(): GroupWorld {
    const copy = new GroupWorld(this.group.failurePolicy, 0);
    copy.now = this.now;
    copy.group = this.group;
    copy.components = [...this.components];
    copy.controls = [...this.controls];
    copy.events.push(...this.events);
    return copy;
  }

  snapshot(): GroupSnapshot {
    return { group: this.group, components: this.components, controls: this.controls };
  }

  ask(): GroupDecision {
    return decideGroup(this.snapshot(), this.now);
  }

  /** A person orders something; false when the control plane refuses it. */
  order(kind: RolloutGroupControlKind): boolean {
    if (!groupControlVerdict(kind, this.snapshot()).legal) return false;
    const componentIndex = kind === 'skip' ? skippableComponent(this.snapshot()) : null;
    const id = `k${this.controls.length}`;
    this.controls = [...this.controls, { id, kind, actor: 'ann', reason: null, createdAt: this.now, componentIndex }];
    if (kind === 'start') this.#setStatus('running');
    if (kind === 'rollback') this.#turnRound();
    return true;
  }

  /** Asks until the answer changes nothing any more, and obeys each. */
  settle(): GroupDecision {
    for (let asked = 0; asked < 20; asked += 1) {
      const decision = this.ask();
      if (!this.#obey(decision)) return decision;
    }
    throw new Error('the group keeps changing by itself: it would never sleep');
  }

  /** The component under way, or the ended one with a rollback ordered. */
  moving(): { readonly index: number; readonly rollout: ComponentRolloutFacts } | null {
    const found = this.components.find(
      ({ rollout }) => rollout && (!isEndedRollout(rollout.status) || rollout.rollbackOrdered),
    );
    return found?.rollout ? { index: found.index, rollout: found.rollout } : null;
  }

  /** The component's rollout does something; false when it can't now. */
  step(step: RolloutStep): boolean {
    if (step === 'heal') return this.#heal();
    const moving = this.moving();
    if (!moving) return false;
    const { index, rollout } = moving;
    if (step === 'obey') return this.#obeyOrders(index, rollout);
    // What was ordered comes before anything new; a paused rollout does nothing by itself.
    if (rollout.status !== 'running' || rollout.cancelOrdered || rollout.rollbackOrdered) return false;
    if (rollout.pauseOrderedAt !== null) return false;
    if (step === 'node') {
      if (rollout.direction === 'rollback' || rollout.succeededNodes > 0) return false;
      return this.#change(index, { succeededNodes: 1 });
    }
    if (step === 'complete') {
      if (rollout.direction === 'rollback') return this.#move(index, 'rolled_back', { succeededNodes: 0 });
      return rollout.succeededNodes > 0 && this.#move(index, 'completed');
    }
    // C4: what a manual group would be asked about has failed under the other policies.
    const asks = this.group.failurePolicy === 'manual' && rollout.direction === 'upgrade';
    return this.#move(index, asks ? 'paused' : 'failed');
  }

  #obeyOrders(index: number, rollout: ComponentRolloutFacts): boolean {
    if (rollout.rollbackOrdered) {
      this.events.push({ kind: 'turned_back', index });
      if (rollout.status === 'running') this.#move(index, 'paused');
      return this.#move(index, 'running', { direction: 'rollback' });
    }
    if (rollout.cancelOrdered) return this.#move(index, 'canceled');
    if (rollout.pauseOrderedAt !== null) return this.#move(index, 'paused');
    if (rollout.resumeOrdered) return this.#move(index, 'running');
    return false;
  }

  #heal(): boolean {
    const sick = this.components.find(({ gateNodes }) => gateNodes.some(({ state }) => state !== 'healthy'));
    if (!sick) return false;
    const gateNodes = [{ ...NODE, state: 'healthy' as const, runsTarget: true, lastHeartbeatAt: this.now + 1 }];
    this.components = this.components.map((one) => (one.index === sick.index ? { ...one, gateNodes } : one));
    return true;
  }

  /** @returns whether anything changed */
  #obey(decision: GroupDecision): boolean {
    if (decision.kind === 'roll_back') {
      this.group = { ...this.group, statusReason: decision.reason };
      this.#turnRound();
      return true;
    }
    const ends = decision.kind === 'pause' || decision.kind === 'finish';
    const moved = decision.status !== this.group.status;
    if (moved) {
      this.#setStatus(decision.status);
      this.group = { ...this.group, statusReason: ends ? decision.reason : reason('resumed_by_operator') };
    }
    if (decision.kind === 'start_component') this.#start(decision.componentIndex);
    if (decision.kind === 'steer') this.#steer(decision.order);
    return moved || decision.kind === 'start_component' || decision.kind === 'steer';
  }

  #start(index: number): void {
    const before = this.components[index - 1];
    const well = before?.gateNodes.every(({ state }) => state === 'healthy') ?? true;
    const waived = this.controls.some(({ kind, componentIndex }) => kind === 'skip' && componentIndex === index - 1);
    this.events.push({ kind: 'started', index, wellBefore: well || waived });
    const rollout: ComponentRolloutFacts = {
      id: `r${index}`,
      status: 'running',
      why: 'running',
      statusChangedAt: this.now,
      direction: 'upgrade',
      succeededNodes: 0,
      pauseOrderedAt: null,
      resumeOrdered: false,
      cancelOrdered: false,
      rollbackOrdered: false,
      newerRolloutId: null,
    };
    this.components = this.components.map((one) => (one.index === index ? { ...one, rollout } : one));
  }

  #steer({ componentIndex, control }: ComponentOrder): void {
    const rollout = this.components[componentIndex]?.rollout;
    if (!rollout) throw new Error(`an order for component ${componentIndex}, which has not begun`);
    if (control === 'pause') this.#change(componentIndex, { pauseOrderedAt: this.now });
    if (control === 'resume') {
      const resumeOrdered = rollout.status === 'paused';
      this.#change(componentIndex, { pauseOrderedAt: null, resumeOrdered });
    }
    if (control === 'cancel') {
      const cancelOrdered = !isEndedRollout(rollout.status);
      this.#change(componentIndex, { cancelOrdered, rollbackOrdered: false, pauseOrderedAt: null });
    }
    if (control === 'rollback') {
      this.#change(componentIndex, { rollbackOrdered: true, cancelOrdered: false, pauseOrderedAt: null });
    }
  }

  #move(index: number, to: RolloutStatus, over: Partial<ComponentRolloutFacts> = {}): boolean {
    const rollout = this.components[index]?.rollout;
    if (!rollout) return false;
    assertTransition('rollout', ROLLOUT_TRANSITIONS, rollout.status, to);
    const cleared = { pauseOrderedAt: null, resumeOrdered: false, cancelOrdered: false, rollbackOrdered: false };
    const kept = to === 'paused' && rollout.rollbackOrdered ? { rollbackOrdered: true } : {};
    this.#change(index, { status: to, why: to, statusChangedAt: this.now, ...cleared, ...kept, ...over });
    if (to === 'completed') {
      const gateNodes = [{ ...NODE, state: 'syncing' as const, runsTarget: true }];
      this.components = this.components.map((one) => (one.index === index ? { ...one, gateNodes } : one));
    }
    return true;
  }

  #change(index: number, over: Partial<ComponentRolloutFacts>): boolean {
    this.components = this.components.map((one) =>
      one.index === index && one.rollout ? { ...one, rollout: { ...one.rollout, ...over } } : one,
    );
    return true;
  }

  #turnRound(): void {
    if (this.group.status !== 'running') this.#setStatus('running');
    const statusReason =
      this.group.statusReason ?? reason('internal_error', { error: sentenceOf(reason('not_started')) });
    this.group = { ...this.group, direction: 'rollback', rollbackBeganAt: this.now, statusReason };
  }

  #setStatus(status: GroupFacts['status']): void {
    assertTransition('rollout group', ROLLOUT_GROUP_TRANSITIONS, this.group.status, status);
    this.group = { ...this.group, status, statusChangedAt: this.now };
  }
}
