import { isHalted } from '../chain-height.ts';
import { type DecisionContext, isForced } from '../decision-context.ts';
import { isoTime } from '../iso-time.ts';
import { type Reason, reason } from '../reasons.ts';
import { STRATEGIES } from '../rollout-strategy/strategies.ts';
import { OPEN, type StartGate } from './start-gate.ts';

/** Reason with the chain's height of now. */
export function chainHaltedReason({ snapshot }: Pick<DecisionContext, 'snapshot'>): Reason {
  const { bestHeight, heightGrewAt } = snapshot.chain;
  return reason('chain_halted', {
    height: bestHeight ?? '?',
    since: heightGrewAt === null ? '?' : isoTime(heightGrewAt),
  });
}

/**
 * No further node is stopped while the chain stands (D4a). Retries, rollbacks, forced rollouts and `all_at_once` pass:
 * they may be the cure.
 */
export const chainHalted: StartGate = ({ purpose }, context) => {
  const { rollout, chain } = context.snapshot;
  if (purpose !== 'first' || isForced(context) || !STRATEGIES[rollout.strategy].stopsOnHaltedChain) return OPEN;
  return isHalted(chain, context.now) ? { kind: 'stop', reason: chainHaltedReason(context) } : OPEN;
};
