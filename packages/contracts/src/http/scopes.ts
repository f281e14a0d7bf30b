import { z } from 'zod';

/** Scopes that each include the ones before them. */
const LADDER = ['read', 'operate', 'admin'] as const;

/**
 * What a caller may do: `read` looks, `operate` steers what an admin has set up, and `admin` (spec "API Surface") decides
 * what runs on hosts and who may act, each including the ones before it. `override` sets a policy aside for a rollout
 * (ADR 0032): it stands beside them, so that nobody has it by accident, and lets its holder look.
 */
export const SCOPES = [...LADDER, 'override'] as const;
export type Scope = (typeof SCOPES)[number];

export const scopeSchema = z.enum(SCOPES);

/** Whether what is held covers what is needed; a name that is no scope covers nothing. */
export function includesScope(held: readonly string[], needed: Scope): boolean {
  if (needed === 'override') return held.includes('override');
  if (needed === 'read' && held.includes('override')) return true;
  return LADDER.slice(LADDER.indexOf(needed)).some((scope) => held.includes(scope));
}
