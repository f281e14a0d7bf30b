import { isoTime } from './iso-time.ts';
import { type Reason, reason } from './reasons.ts';

/** A person's word that nobody changes a node for a while: its turn waits until then. */
export interface NodeHold {
  readonly actor: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** A person's word that a component stays at its version: rollouts to another one leave the node out. */
export interface NodePin {
  readonly version: string;
  readonly actor: string;
  readonly reason: string;
  /** Epoch milliseconds; null: until somebody releases it. */
  readonly until: number | null;
}

/** Why the node is not changed now; null when nobody holds it, or the hold has expired. */
export function heldReason(node: string, hold: NodeHold | null | undefined, now: number): Reason | null {
  if (!hold || now >= hold.until) return null;
  return reason('node_held', { node, actor: hold.actor, until: isoTime(hold.until), why: hold.reason });
}

/** Why the node is left out of a rollout to this version; null when no pin that stands says so. */
export function pinnedReason(pin: NodePin | null | undefined, targetVersion: string, now: number): Reason | null {
  if (!pin || pin.version === targetVersion || (pin.until !== null && now >= pin.until)) return null;
  const until = pin.until === null ? 'somebody releases it' : isoTime(pin.until);
  return reason('node_pinned', { version: pin.version, actor: pin.actor, until, why: pin.reason });
}
