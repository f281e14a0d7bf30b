import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { DomainError } from '@hoodcloud/domain/errors';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';

/** Everything that keeps a rollout from being created, at once. */
export class RolloutRulesError extends DomainError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const what = errors.length === 1 ? 'a rule' : `${errors.length} rules`;
    super('rollout_rules', `The rollout breaks ${what}; see errors.`);
    this.errors = errors;
  }
}

/** Rule 5: the chain has an active rollout or group. */
export class RolloutActiveError extends DomainError {
  constructor(chainProfileId: string, owner: { readonly type: string; readonly id: string } | null) {
    const who = owner ? `${owner.type.replace('_', ' ')} ${owner.id}` : 'another rollout';
    const id = owner ? { [`${owner.type}_id`]: owner.id } : {};
    super('rollout_active', `On ${chainProfileId} ${who} is active: let it end or cancel it first.`, id);
  }
}

/** A person may not order this control now (C6). */
export class ControlRefusedError extends DomainError {
  constructor(control: RolloutControlKind, why: { readonly code: string; readonly message: string }) {
    super('control_refused', why.message, { control, reason: why.code });
  }
}

/** Nothing to start: every node is left out, each with its reason (C4). */
export class NoEligibleNodesError extends DomainError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const none = 'No node matches the chain, the node type and the node ids.';
    const all = "No node can be upgraded; see errors for each one's reason.";
    super('no_eligible_targets', errors.length === 0 ? none : all);
    this.errors = errors;
  }
}
