import { CONTROL_LEGAL_IN, ROLLOUT_CONTROLS, type RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import type { RolloutStatus } from '@hoodcloud/domain/rollout-status';
import type { Stack } from './stack.ts';

/** Where hoodctl and the API name a control otherwise than the rows do. */
const NAMES: Readonly<Partial<Record<RolloutControlKind, string>>> = { approve_canary: 'approve' };
const OF_A_NODE: readonly RolloutControlKind[] = ['retry', 'skip'];

/** What came of ordering a control in a status. */
export interface Ordered {
  readonly control: RolloutControlKind;
  readonly status: RolloutStatus;
  readonly taken: boolean;
  /** Code of the refusal; null when it was taken. */
  readonly code: string | null;
}

/** Orders controls through hoodctl and remembers every answer. */
export class ControlOrders {
  readonly seen: Ordered[] = [];
  readonly #stack: Stack;

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  /** Orders a control that must be taken. @throws HoodctlFailed with what the operator saw */
  async order(id: string, control: RolloutControlKind, node?: string): Promise<void> {
    const { status } = await this.#stack.rollout(id);
    await this.#stack.plane.hoodctl.does(...wordsFor(id, control, node), '--reason', 'the test says so');
    this.seen.push({ control, status, taken: true, code: null });
  }

  /**
   * Asks by hoodctl for every control whether it would be taken now (`start`, which has no dry run, only where it must be
   * refused), and the API itself: what hoodctl says and the status 409 must agree.
   */
  async probe(id: string, node: { readonly name: string; readonly id: string }): Promise<Ordered[]> {
    const { status } = await this.#stack.rollout(id);
    const found: Ordered[] = [];
    for (const control of ROLLOUT_CONTROLS) {
      const legalByTable = CONTROL_LEGAL_IN[control].includes(status);
      if (control === 'start' && legalByTable) continue;
      const dry = control === 'start' ? [] : ['--dry-run'];
      const answer = await this.#stack.plane.hoodctl.run(...wordsFor(id, control, node.name), ...dry);
      const problem = await this.#stack.plane.hoodctl.post(`${pathFor(id, control, node.id)}?dry_run=true`);
      const taken = problem.status === 200;
      const agree = taken === (answer.code === 0) && (taken || problem.status === 409);
      if (!agree) {
        throw new Error(`${control} on ${status}: hoodctl ${answer.code}, API ${problem.status}\n${answer.stderr}`);
      }
      if (taken && !legalByTable) throw new Error(`${control} was taken by a ${status} rollout`);
      // a pending rollout has no nodes yet: hoodctl says that before it asks
      const named = status === 'pending' && OF_A_NODE.includes(control);
      if (!taken && !named && !answer.stderr.includes(problem.detail)) {
        throw new Error(`${control} on ${status}: hoodctl hides "${problem.detail}":\n${answer.stderr}`);
      }
      found.push({ control, status, taken, code: problem.reason });
    }
    this.seen.push(...found);
    return found;
  }
}

function wordsFor(id: string, control: RolloutControlKind, node?: string): string[] {
  const name = NAMES[control] ?? control;
  return ['rollout', name, id, ...(OF_A_NODE.includes(control) ? [node ?? ''] : [])];
}

function pathFor(id: string, control: RolloutControlKind, nodeId: string): string {
  const name = NAMES[control] ?? control;
  return OF_A_NODE.includes(control) ? `/rollouts/${id}/nodes/${nodeId}/${name}` : `/rollouts/${id}/${name}`;
}
