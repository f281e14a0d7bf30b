import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { DomainError } from '@hoodcloud/domain/errors';

/** A saved plan may not be started (any more). */
export class PlanRefusedError extends DomainError {
  readonly errors: readonly FieldError[];

  constructor(
    code: 'plan_changed' | 'plan_expired' | 'plan_started',
    message: string,
    more: { readonly errors?: readonly FieldError[]; readonly details?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, more.details ?? {});
    this.errors = more.errors ?? [];
  }
}
