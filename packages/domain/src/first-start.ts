import type { ScopedNode } from './policy-scope.ts';
import type { RolloutFacts, RolloutSnapshot } from './rollout-snapshot.ts';
import { freezeHolds } from './start-gates/freeze.ts';
import { ownWindowHolds, policyWindowHolds } from './start-gates/maintenance-window.ts';
import { startTimeHolds } from './start-gates/scheduled-start.ts';
import type { Hold } from './start-gates/start-gate.ts';

/** Every rule about when a node may start: what a plan can tell before there is a rollout. */
export type TimeRules = Pick<RolloutFacts, 'startAt' | 'windows'> & {
  readonly policies: Pick<RolloutSnapshot, 'windows' | 'freezes'>;
};

/** Looks from opening to opening: a month of daily windows, a year of weekly ones. Those that are never open together are given up. */
const MOST_LOOKS = 60;

/** Everything about the time that keeps a node from a first start. */
export function timeHolds(node: ScopedNode, { startAt, windows, policies }: TimeRules, now: number): Hold[] {
  return [
    ...freezeHolds(node, policies.freezes, now),
    ...policyWindowHolds(node, policies.windows, now),
    ...ownWindowHolds(windows, now),
    ...startTimeHolds(startAt, now),
  ];
}

/**
 * The first moment at or after `now` at which nothing about the time keeps a node from starting, in epoch milliseconds; null:
 * never, since its windows are not open together.
 */
export function firstStart(node: ScopedNode, rules: TimeRules, now: number): number | null {
  let at = now;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const holds = timeHolds(node, rules, at);
    if (holds.length === 0) return at;
    const untils = holds.map(({ until }) => until);
    if (untils.some((until) => until === undefined)) return null;
    at = Math.max(...untils.map((until) => until ?? at));
  }
  return null;
}
