import type { Reason } from './reasons.ts';
import type { RolloutGroupStatus } from './rollout-group-status.ts';

/** A control that the group orders of one of its rollouts. */
export interface ComponentOrder {
  readonly componentIndex: number;
  readonly control: 'pause' | 'resume' | 'cancel' | 'rollback';
  /** Who wanted it: the person who ordered it of the group, or the group itself. */
  readonly actor: string;
  readonly why: string;
}

/** What a group does next. `status` is the status its row should have; the caller writes it when it differs. */
export type GroupDecision =
  /** Insert the component's rollout and start it (C2). */
  | {
      readonly kind: 'start_component';
      readonly status: 'running';
      readonly componentIndex: number;
      readonly reasons: readonly Reason[];
    }
  | {
      readonly kind: 'steer';
      readonly status: RolloutGroupStatus;
      readonly order: ComponentOrder;
      readonly reasons: readonly Reason[];
    }
  | {
      readonly kind: 'wait';
      readonly status: RolloutGroupStatus;
      readonly until: number | null;
      readonly reasons: readonly Reason[];
    }
  | { readonly kind: 'pause'; readonly status: 'paused'; readonly reason: Reason; readonly reasons: readonly Reason[] }
  /** Turn the group round; from then on components go back in reverse order. */
  | { readonly kind: 'roll_back'; readonly reason: Reason }
  | { readonly kind: 'finish'; readonly status: RolloutGroupStatus; readonly reason: Reason };

/** Who orders what no person ordered. */
export const GROUP_ACTOR = 'system:group';
