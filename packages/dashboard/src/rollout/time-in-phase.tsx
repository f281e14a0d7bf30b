import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { useNow } from '../components/use-now.ts';

/** The phase and, while an attempt is under way, how long the node is in it; afterwards how long the attempt took. */
export function TimeInPhase({ node }: { readonly node: RolloutNodeView }) {
  const now = useNow();
  if (node.upgrade_phase === null) return <>–</>;
  const since = node.phase_changed_at ?? node.started_at;
  const time = isInFlight(node.status)
    ? since && renderDuration(now.getTime() - Date.parse(since))
    : node.duration_ms !== null && `took ${renderDuration(node.duration_ms)}`;
  return (
    <>
      {node.upgrade_phase}
      {time && <span className="batch-text"> {time}</span>}
    </>
  );
}
