import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { progressOf } from '@hoodcloud/contracts/http/view-text';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import { bestHeight } from '../screen/screen-lines.ts';

/** Where a rollout stands, in one line for logs and pipes. */
export function renderProgressLine(rollout: RolloutDetail, nodes: readonly RolloutNodeView[]): string {
  const height = bestHeight(nodes);
  const moving = nodes
    .filter(({ status }) => isInFlight(status))
    .map((node) => `${node.node_name} ${node.upgrade_phase ?? node.status}`);
  const waiting = isEndedRollout(rollout.status) ? [] : rollout.why.map(({ sentence }) => sentence);
  const parts = [
    `${rollout.status}: ${progressOf(rollout)}`,
    ...(moving.length > 0 ? [moving.slice(0, 5).join(', ')] : []),
    ...(height === null ? [] : [`chain height ${height}`]),
    ...waiting,
  ];
  return parts.join(' · ');
}
