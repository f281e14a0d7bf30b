import type { AgentErrorCode } from '@hoodcloud/domain/failure-class';

/** Something on the host could not be done; `code` is stable, `message` is the sentence that the operator reads. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Code and sentence of whatever was thrown; `internal_error` when nobody gave it a code. */
export function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof AgentError) return { code: error.code, message: error.message };
  if (error instanceof Error) return { code: systemErrorCode(error) ?? 'internal_error', message: error.message };
  return { code: 'internal_error', message: String(error) };
}

/** `ENOENT` and its kind, in our spelling of codes; null for anything else. */
function systemErrorCode(error: Error): string | null {
  const code = errnoOf(error);
  return code === null ? null : code.toLowerCase();
}

/** The `errno` name of a failed system call (`ENOENT`), null when the error is of another kind. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
