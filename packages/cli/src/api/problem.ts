import { CliError } from '../cli-error.ts';
import { nextCommand } from './next-command.ts';

/** A problem body (RFC 9457) as far as the CLI reads it; whatever else it carries stays in `extra`. */
export interface ProblemBody {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly violations?: readonly { readonly rule?: number; readonly code?: string; readonly message?: string }[];
  readonly errors?: readonly { readonly path?: string; readonly field?: string; readonly message?: string }[];
}

/** The server refused; `code` is the problem's stable code. */
export class ApiError extends CliError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, options: { details: readonly string[]; next?: string }) {
    super(message, options);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

/** Turns an answer that isn't 2xx into the error the operator reads. `body` is the parsed JSON, or null. */
export function apiError(status: number, body: unknown, request: string): ApiError {
  const problem = isRecord(body) ? (body as ProblemBody) : {};
  const code = typeof problem.code === 'string' ? problem.code : `http_${status}`;
  const message = problem.detail ?? problem.title ?? `The control plane answered ${status} to ${request}.`;
  return new ApiError(status, code, message, { details: details(problem), next: nextCommand(status, code) });
}

function details({ violations, errors }: ProblemBody): string[] {
  const rules = list(violations).map(({ rule, code, message }) => {
    const name = rule === undefined ? code : `rule ${rule}`;
    return `- ${message ?? code ?? 'unnamed'}${name ? ` (${name})` : ''}`;
  });
  const fields = list(errors).map(({ path, field, message }) => {
    const where = path ?? field;
    return `- ${where ? `${where}: ` : ''}${message ?? 'is wrong'}`;
  });
  return [...rules, ...fields];
}

const list = <Item>(value: readonly Item[] | undefined): readonly Item[] => (Array.isArray(value) ? value : []);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
