import type { RolloutOverrides } from '@hoodcloud/contracts/http/policies';
import { renderDuration } from '@hoodcloud/domain/duration-text';

/** How long a rule that is set aside here stays so; `hoodctl rollout override --for` says another time. */
export const ASIDE_SECONDS = 4 * 3600;

/** What it means to set a rule aside, before it is done. */
export function asideConsequence({
  persons,
  agreed,
  nodes,
}: Pick<RolloutOverrides['holding'][number], 'persons' | 'agreed' | 'nodes'>): string {
  const which = nodes === 1 ? '1 node' : `${nodes} nodes`;
  const holds = `It holds for ${renderDuration(ASIDE_SECONDS * 1000)}, for this rollout alone`;
  if (agreed.length + 1 < persons) return `${holds}. A second person must agree too before ${which} may start.`;
  return `${holds}: ${which} may start that wait for it now.`;
}
