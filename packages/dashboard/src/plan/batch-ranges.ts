import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';

type PlanBatch = RolloutPlanView['batches'][number];

/** Neighbouring batches of one size: thousands of batches are a few lines. */
export interface PlannedRange {
  readonly first: number;
  readonly last: number;
  readonly canary: boolean;
  /** Which nodes those are, where batches were named. */
  readonly of: string | null;
  /** Of each batch. */
  readonly nodes: number;
  /** Of all of them. */
  readonly names: readonly string[];
}

/** Batches that are alike together; `most` single ones are left as they are. */
export function plannedRanges(batches: readonly PlanBatch[], most = 12): PlannedRange[] {
  const ranges: PlannedRange[] = [];
  for (const { index, canary, of, nodes } of batches) {
    const names = nodes.map(({ node_name, online }) => (online ? node_name : `${node_name} (offline)`));
    const last = ranges.at(-1);
    if (last && batches.length > most && last.nodes === nodes.length && last.canary === canary && last.of === of) {
      ranges[ranges.length - 1] = { ...last, last: index, names: [...last.names, ...names] };
    } else {
      ranges.push({ first: index, last: index, canary, of, nodes: nodes.length, names });
    }
  }
  return ranges;
}
