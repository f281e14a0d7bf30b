import { z } from 'zod';

/**
 * What a caller may do, each including the ones before it: `read` looks, `operate` steers what an admin has set up, and
 * `admin` (spec "API Surface") decides what runs on hosts, who may act, and when a safety rule is set aside.
 */
export const SCOPES = ['read', 'operate', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const scopeSchema = z.enum(SCOPES);

/** Whether what is held covers what is needed; a name that is no scope covers nothing. */
export function includesScope(held: readonly string[], needed: Scope): boolean {
  return SCOPES.slice(SCOPES.indexOf(needed)).some((scope) => held.includes(scope));
}
