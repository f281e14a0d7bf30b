import { planBatches } from '../batch-plan.ts';
import type { RolloutFacts } from '../rollout-snapshot.ts';
import type { Coverage } from './coverage.ts';
import { RolloutWorld } from './rollout-world.ts';
import { aRollout, aRow } from './snapshot-builder.ts';

/** A pending rollout of so many nodes, their batches planned as the product plans them. */
export function aPendingWorld(nodes: number, rollout: Partial<RolloutFacts>, coverage?: Coverage): RolloutWorld {
  const facts = aRollout({ ...rollout, status: 'pending', statusChangedAt: 1_000 });
  const ids = Array.from({ length: nodes }, (_, number) => `n${number}`);
  const batches = planBatches({ ...facts, seed: 'r1', nodes: ids });
  const rows = ids.map((nodeId) => aRow(nodeId, { batchIndex: batches.get(nodeId) ?? 0 }));
  return new RolloutWorld(facts, rows, coverage);
}
