import type { FieldError } from '@hoodcloud/contracts/http/problem';

export interface ProblemOptions {
  /** Each thing that is wrong, with its field. */
  readonly errors?: readonly FieldError[];
  /** What a program needs to act on. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A refusal with the HTTP status it is answered with; services throw `DomainError`, only routes know this one. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(status: number, code: string, message: string, options: ProblemOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ProblemError';
    this.status = status;
    this.code = code;
    this.errors = options.errors;
    this.details = options.details;
  }
}

/** 404 for a thing that a path names. */
export function notFound(what: string, id: string): ProblemError {
  return new ProblemError(404, `${what}_not_found`, `There is no ${what.replaceAll('_', ' ')} ${id}.`);
}
