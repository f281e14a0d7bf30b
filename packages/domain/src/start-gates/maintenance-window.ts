import { covers, type ScopedNode } from '../policy-scope.ts';
import { reason } from '../reasons.ts';
import type { RolloutSnapshot } from '../rollout-snapshot.ts';
import type { OverridableRule } from '../rule-override.ts';
import { type WeeklyWindow, windowState } from '../weekly-window.ts';
import { zoneTime } from '../zone-time.ts';
import { onceAQuestion } from './once-a-question.ts';
import { type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

function holdOutside(rule: OverridableRule, windows: readonly WeeklyWindow[], now: number): readonly Hold[] {
  const { open, opensAt } = windowState(windows, now);
  const timeZone = windows[0]?.time_zone;
  if (open || timeZone === undefined) return [];
  const window = rule.name;
  if (opensAt === null) return [{ reason: reason('outside_window', { window, opens: 'never' }), rule }];
  const opens = zoneTime(opensAt, timeZone);
  return [{ reason: reason('outside_window', { window, opens }), rule, until: opensAt }];
}

const holdOfPolicy = onceAQuestion(({ name, spec }: RolloutSnapshot['windows'][number], now) =>
  holdOutside({ name: `maintenance_window/${name}`, persons: 1 }, [spec], now),
);
const holdOfRollout = onceAQuestion((windows: readonly WeeklyWindow[], now) =>
  holdOutside({ name: 'rollout_windows', persons: 1 }, windows, now),
);

/** What holds a node outside the windows that cover it. A node that the fleet does not know is covered by all. */
export function policyWindowHolds(
  node: ScopedNode | undefined,
  windows: RolloutSnapshot['windows'],
  now: number,
): readonly Hold[] {
  return windows
    .filter(({ spec }) => node === undefined || covers(spec.scope, node))
    .flatMap((window) => holdOfPolicy(window, now));
}

/** What holds a rollout outside its own windows, of which one is enough. */
export function ownWindowHolds(windows: readonly WeeklyWindow[] | null | undefined, now: number): readonly Hold[] {
  return windows ? holdOfRollout(windows, now) : [];
}

/**
 * A node starts only while every window that covers it is open: each is a promise of its own, and a node that none covers
 * is always free. Of the rollout's own windows one is enough. A retry waits as a first start does, since it stops the node
 * just so; the way back is the cure and passes (ADR 0031).
 */
export const maintenanceWindow: StartGate = ({ row, purpose }, { snapshot, now }) => {
  if (purpose === 'rollback') return OPEN;
  const node = snapshot.fleet.get(row.nodeId);
  return wait(...policyWindowHolds(node, snapshot.windows, now), ...ownWindowHolds(snapshot.rollout.windows, now));
};
