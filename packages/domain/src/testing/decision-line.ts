import type { RolloutDecision } from '../rollout-decision.ts';

/** For tests: a decision in one line, e.g. `run a#1 b#1 (running)`. */
export function told(decision: RolloutDecision): string {
  switch (decision.kind) {
    case 'run':
      return `run ${decision.nodes.map((node) => `${node.nodeId}#${node.attempt}`).join(' ')} (${decision.status})`;
    case 'wait':
      return `wait ${decision.reasons.map((reason) => reason.code).join(' ')} (${decision.status})`;
    case 'pause':
      return `pause ${decision.reason.code}`;
    case 'roll_back':
      return `roll_back ${decision.reason.code}`;
    case 'finish':
      return `finish ${decision.status} ${decision.reason.code}`;
  }
}
