import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { DomainError } from '@hoodcloud/domain/errors';
import type { RolloutGroupControlKind } from '@hoodcloud/domain/rollout-group-control';

/** Everything that keeps a group from being created, at once. */
export class GroupRulesError extends DomainError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const what = errors.length === 1 ? 'a rule' : `${errors.length} rules`;
    super('rollout_group_rules', `The group breaks ${what}; see errors.`);
    this.errors = errors;
  }
}

/** A person may not order this control of the group now (C6). */
export class GroupControlRefusedError extends DomainError {
  constructor(control: RolloutGroupControlKind, why: { readonly code: string; readonly message: string }) {
    super('control_refused', why.message, { control, reason: why.code });
  }
}
