import type { Feature, Services } from '../feature.ts';
import type { ChainHealthSource } from './chain-health.ts';
import { ChainJudges } from './chain-judges.ts';
import { healthValidation } from './health-validation.ts';
import { heartbeatEvaluator } from './heartbeat-evaluator.ts';
import { heartbeatRetention } from './heartbeat-retention.ts';

/** What heartbeats mean: node states, proofs of health, and how long raw heartbeats are kept. */
export function healthFeature(services: Services, chainHealth: ChainHealthSource): Feature {
  const judges = new ChainJudges(chainHealth, services.log);
  return {
    name: 'health',
    reconcilers: [
      healthValidation(services, judges),
      heartbeatEvaluator(services, judges),
      heartbeatRetention(services),
    ],
  };
}
