/** Number of a creation-time rule of the specification, or `range` for a number that makes no sense. */
export type RuleId = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 'range';

/** One broken rule: all of them are reported at once (422). */
export interface Violation {
  readonly rule: RuleId;
  /** Stable, for programs. */
  readonly code: string;
  /** Field of the request, snake_case. */
  readonly field: string;
  /** Sentence for the operator: what is wrong and what to do. */
  readonly message: string;
}

/** Makes a violation. */
export function violation(rule: RuleId, code: string, field: string, message: string): Violation {
  return { rule, code, field, message };
}
