import { reason } from '../reasons.ts';
import type { ChainFacts, RolloutFacts } from '../rollout-snapshot.ts';
import { awaitsStage } from '../staging.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/** An answer that nobody told the rollout of is seen after so long, in milliseconds. */
const LOOK_AGAIN_MS = 15_000;

/**
 * With staging no node starts before every node that is reached has said whether it is ready: a phase before the first
 * batch, read from the rows. One that is not ready holds nobody and tries again at its turn. At the scheduled height or
 * time it holds nobody either: then what is not ready yet is done late rather than not at all.
 */
export const stagingAhead: StartGate = ({ purpose }, { snapshot, now }) => {
  const { rollout, nodes, fleet, chain } = snapshot;
  if (!rollout.stage || purpose !== 'first') return OPEN;
  if (isDue(rollout, chain, now)) return OPEN;
  const rows = nodes.filter(({ status }) => status === 'pending');
  const awaited = rows.filter((row) => awaitsStage(row) && fleet.get(row.nodeId)?.online);
  if (awaited.length === 0) return OPEN;
  const notReady = rows.filter(({ stageState }) => stageState === 'not_ready').length;
  const ready = rows.filter((row) => !awaitsStage(row)).length - notReady;
  const params = { ready, count: rows.length, not_ready: notReady };
  return wait({
    reason: reason('staging_nodes', params),
    until: now + LOOK_AGAIN_MS,
    rule: { name: 'staging', persons: 1 },
  });
};

/** Whether the moment has come that the rollout was made for. */
function isDue({ startAtHeight, startAt }: RolloutFacts, { bestHeight }: ChainFacts, now: number): boolean {
  const height = startAtHeight ?? null;
  if (height !== null) return bestHeight !== null && bestHeight >= height;
  return typeof startAt === 'number' && now >= startAt;
}
