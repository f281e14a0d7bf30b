import type { AgentErrorCode } from '@hoodcloud/domain/failure-class';
import { RuntimeError } from '../runtime-adapter.ts';

/** The Docker engine could not be asked, or said no. `status` is its HTTP status, null when it gave no answer. */
export class EngineError extends RuntimeError {
  readonly status: number | null;
  /** The engine's own words, or those of the system call. */
  readonly said: string;

  constructor(code: AgentErrorCode, message: string, status: number | null, cause: unknown) {
    super(code, message, { cause });
    this.status = status;
    this.said = saidBy(cause);
  }
}

/** A failed call of dockerode's: a system call's error, or an answer that isn't a success. */
interface ModemFailure {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly json?: { readonly message?: unknown } | Buffer | null;
  readonly message?: unknown;
}

const SOCKET_TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'it broke the connection off',
  EPIPE: 'it broke the connection off',
};

/** The sentence for an operator from whatever dockerode threw while `what` was tried. */
export function engineError(error: unknown, what: string, socketPath: string): EngineError {
  const { code, statusCode } = (error ?? {}) as ModemFailure;
  if (typeof statusCode === 'number') {
    return new EngineError(
      'engine_refused',
      `could not ${what}: the Docker engine says "${saidBy(error)}"`,
      statusCode,
      error,
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    const sentence = `could not ${what}: the agent may not use ${socketPath}: run it as root or in the group that owns the socket`;
    return new EngineError('engine_forbidden', sentence, null, error);
  }
  const trouble = SOCKET_TROUBLE[String(code)] ?? saidBy(error);
  return new EngineError(
    'engine_unreachable',
    `could not ${what}: the Docker engine at ${socketPath} can't be reached (${trouble}): start it, or correct runtime.socket of the agent's configuration`,
    null,
    error,
  );
}

/** Whether the engine answered with this HTTP status. */
export function hasStatus(error: unknown, status: number): error is EngineError {
  return error instanceof EngineError && error.status === status;
}

/** What the engine itself said, without dockerode's words around it. */
export function saidBy(error: unknown): string {
  if (error instanceof EngineError) return error.said;
  const { json, message } = (error ?? {}) as ModemFailure;
  if (json && 'message' in json && typeof json.message === 'string') return json.message.trim();
  return typeof message === 'string' ? message.replace(/^\(HTTP code \d+\) [^-]* - /, '').trim() : String(error);
}
