import { STATUS_CODES } from 'node:http';
import { FileFormatError } from '@hoodcloud/contracts/files/yaml-file';
import type { FieldError, Problem } from '@hoodcloud/contracts/http/problem';
import { DomainError } from '@hoodcloud/domain/errors';
import type { FastifyError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import pg from 'pg';
import { ProblemError } from './problem-error.ts';

/** Codes of domain errors that are a conflict with the present state; the others are a request that can't be done (422). */
const CONFLICTS: ReadonlySet<string> = new Set([
  'illegal_transition',
  'control_refused',
  'rollout_active',
  'plan_changed',
  'plan_expired',
  'plan_started',
  'rule_holds_nothing',
  'second_person_needed',
]);

/** Unique constraints that a request can run into, with what the person reads. */
const UNIQUE: Readonly<Record<string, { code: string; detail: string }>> = {
  active_chains_pkey: { code: 'rollout_active', detail: 'Another rollout is active on this chain.' },
  one_active_rollout_per_chain: { code: 'rollout_active', detail: 'Another rollout is active on this chain.' },
  one_active_group_per_chain: { code: 'rollout_active', detail: 'Another group is active on this chain.' },
  rollouts_name_key: {
    code: 'rollout_name_taken',
    detail: 'Another rollout has this name; a name is used once, also after its rollout has ended.',
  },
  nodes_name_key: { code: 'node_name_taken', detail: 'Another node has this name.' },
  one_standing_grant: { code: 'scope_granted_already', detail: 'The subject has this scope already.' },
  api_keys_name_key: { code: 'api_key_name_taken', detail: 'Another API key has this name.' },
};

/** The database can't be reached or is going down: trouble of ours that passes. */
const DATABASE_AWAY = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|57P0[1-3]|08\w{3}|53300)$/;

/** Postgres stores no U+0000, neither in a text nor in JSON. */
const UNSTORABLE_TEXT = /^(22021|22P05)$/;

/** Fastify's own refusals. */
const FASTIFY: Readonly<Record<string, { code: string; detail: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body_too_large', detail: 'The request body is too large.' },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'invalid_json', detail: 'The request body is not JSON.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'invalid_json', detail: 'The request body is empty; send {} at least.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    detail: 'Send the body as application/json.',
  },
};

/** What every error of the API becomes (RFC 9457). What we did not expect is 500 and says nothing about the inside. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ProblemError) {
    const { status, code, message, errors, details } = error;
    return problem(status, code, message, { ...(errors && { errors: [...errors] }), ...(details && { details }) });
  }
  if (hasZodFastifySchemaValidationErrors(error)) return invalidRequest(error as never);
  if (error instanceof DomainError) {
    const errors = 'errors' in error ? { errors: error.errors as FieldError[] } : {};
    const more = { details: error.details, ...errors };
    return problem(CONFLICTS.has(error.code) ? 409 : 422, error.code, error.message, more);
  }
  if (error instanceof FileFormatError) {
    const errors = error.problems.map((message) => ({ field: '', code: error.code, message }));
    return problem(422, error.code, 'A file of the config folder is wrong.', { errors });
  }
  return ofDatabase(error) ?? ofFastify(error) ?? internal();
}

function internal(): Problem {
  return problem(500, 'internal_error', 'The control plane failed; its log has the request id and the cause.');
}

function ofDatabase(error: unknown): Problem | null {
  if (error instanceof pg.DatabaseError && error.code === '23505') {
    const known = UNIQUE[error.constraint ?? ''];
    return problem(409, known?.code ?? 'conflict', known?.detail ?? 'Something with this identity is there already.');
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return null;
  if (UNSTORABLE_TEXT.test(code))
    return problem(400, 'invalid_text', 'A text of the request holds U+0000: leave it out.');
  if (!DATABASE_AWAY.test(code)) return null;
  return problem(503, 'database_unavailable', 'The database can not be reached; try again in some seconds.');
}

function ofFastify(error: unknown): Problem | null {
  const { code, statusCode, message } = error as Partial<FastifyError>;
  if (typeof statusCode !== 'number' || statusCode >= 500) return null;
  const known = FASTIFY[code ?? ''];
  return problem(statusCode, known?.code ?? 'bad_request', known?.detail ?? message ?? 'The request is wrong.');
}

interface SchemaValidation {
  readonly validationContext?: string;
  readonly validation: readonly {
    readonly instancePath: string;
    readonly keyword: string;
    readonly message?: string;
    readonly params?: { readonly issue?: { readonly keys?: readonly string[] }; readonly keys?: readonly string[] };
  }[];
}

/** Every field that does not fit the schema, by its path: `body.batch_size`. */
function invalidRequest({ validation, validationContext = 'body' }: SchemaValidation): Problem {
  const errors: FieldError[] = validation.map(({ instancePath, keyword, message }) => ({
    field: [validationContext, ...instancePath.split('/').filter(Boolean)].join('.'),
    code: keyword,
    message: message ?? 'is wrong',
  }));
  return problem(400, 'invalid_request', 'The request does not fit its schema; see errors.', { errors });
}

function problem(status: number, code: string, detail: string, more: Partial<Problem> = {}): Problem {
  return {
    type: `urn:hoodcloud:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    ...more,
  };
}
