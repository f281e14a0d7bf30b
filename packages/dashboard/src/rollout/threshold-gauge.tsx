import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { Text } from '@mantine/core';

const percent = (ratio: number) => `${Math.round(ratio * 1000) / 10} %`;

/** How near the failures are to what pauses the rollout by itself (C5): the filled part is now, the line is the limit. */
export function ThresholdGauge({ rollout }: { readonly rollout: RolloutDetail }) {
  const { attempted_nodes: attempted, counted_failures: failed, failure_threshold: limit } = rollout;
  const ratio = attempted === 0 ? 0 : failed / attempted;
  const scale = Math.max(limit, ratio, 0.01) * 1.25;
  return (
    <div>
      <div className="gauge" data-over={ratio > limit} aria-hidden>
        <div className="gauge-fill" style={{ width: `${Math.min(100, (ratio / scale) * 100)}%` }} />
        <div className="gauge-limit" style={{ left: `${(limit / scale) * 100}%` }} />
      </div>
      <Text size="sm" mt="xs">
        {failed} of {attempted} attempted nodes failed ({percent(ratio)}). {limitText(rollout)}
      </Text>
    </div>
  );
}

function limitText(rollout: RolloutDetail): string {
  if (rollout.threshold_ignored) return 'The threshold is ignored: the rollout goes on whatever fails.';
  const { failure_threshold: ratio, min_attempted: least, max_failures: most } = rollout;
  const absolute = most === null ? '' : `, or more than ${most} nodes`;
  const from = least > 1 ? ` once ${least} were attempted` : '';
  return `It pauses itself above ${percent(ratio)}${from}${absolute}.`;
}
