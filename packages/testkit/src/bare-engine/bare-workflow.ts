import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BareActivities } from './bare-engine.ts';

const { step } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '10 seconds' });
const { command } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute' });

/** As many steps of the same kinds as a node's upgrade has, which do nothing: what the engine itself costs. */
export async function BareWorkflow(): Promise<void> {
  for (let before = 0; before < 3; before += 1) await step();
  await command();
  for (let after = 0; after < 4; after += 1) await step();
}
