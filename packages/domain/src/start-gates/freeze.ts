import { isoTime } from '../iso-time.ts';
import { covers, type ScopedNode } from '../policy-scope.ts';
import { reason } from '../reasons.ts';
import type { RolloutSnapshot } from '../rollout-snapshot.ts';
import { onceAQuestion } from './once-a-question.ts';
import { type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

const standing = onceAQuestion((freezes: RolloutSnapshot['freezes'], now) =>
  freezes
    .filter(({ spec }) => Date.parse(spec.from) <= now && now < Date.parse(spec.to))
    .map(({ name, spec: { scope, to, reason: why } }) => {
      const rule = { name: `freeze/${name}`, persons: 2 } as const;
      const until = Date.parse(to);
      const hold: Hold = { reason: reason('frozen', { freeze: rule.name, why, until: isoTime(until) }), until, rule };
      return { scope, hold };
    }),
);

/** The freezes that hold a node. A node that the fleet does not know is covered by all. */
export function freezeHolds(node: ScopedNode | undefined, freezes: RolloutSnapshot['freezes'], now: number): Hold[] {
  return standing(freezes, now)
    .filter(({ scope }) => node === undefined || covers(scope, node))
    .map(({ hold }) => hold);
}

/**
 * No covered node starts in a freeze, and each freeze is told. An emergency crosses it with the word of two people. What
 * runs goes on to its end, and the way back is the cure and passes (ADR 0031).
 */
export const freeze: StartGate = ({ row, purpose }, { snapshot, now }) => {
  if (purpose === 'rollback') return OPEN;
  return wait(...freezeHolds(snapshot.fleet.get(row.nodeId), snapshot.freezes, now));
};
