import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import { Group } from '@mantine/core';
import { OrderButton } from '../components/order-button.tsx';
import { useSession } from '../session/session.tsx';
import { wordsOf } from './control-words.ts';

/** Those of the whole rollout that are legal now; a node's own are in its row. */
export function RolloutControls({
  rollout,
  refusal = null,
  wanted = null,
}: {
  readonly rollout: RolloutDetail;
  /** What the rollout waits for: it comes first. */
  readonly wanted?: RolloutControlKind | null;
  /** Why this caller may not approve; null: it may. */
  readonly refusal?: string | null;
}) {
  const { api } = useSession();
  const legal = rollout.legal_controls.filter((kind) => kind !== 'retry' && kind !== 'skip');
  const kinds = [...legal.filter((kind) => kind === wanted), ...legal.filter((kind) => kind !== wanted)];
  const question = (kind: (typeof kinds)[number]) => {
    const { button, consequence, endpoint, grave = false } = wordsOf(kind, rollout);
    return {
      title: `${button}: ${rollout.chain_profile_id}, ${rollout.binary_name} ${rollout.target_version}`,
      consequence: consequence(rollout),
      button,
      grave,
      path: PATHS.rolloutControl(rollout.id, endpoint),
      seen: api.seenAt(PATHS.rollout(rollout.id)),
    };
  };
  return (
    <Group gap="xs" role="group" aria-label="Controls of the rollout">
      {kinds.map((kind) => (
        <OrderButton
          key={kind}
          label={wordsOf(kind, rollout).button}
          question={() => question(kind)}
          scope={kind === 'force' ? 'admin' : 'operate'}
          plain={wanted === null ? wordsOf(kind, rollout).grave === true : kind !== wanted}
          barred={kind === 'approve_canary' && refusal !== null}
        />
      ))}
    </Group>
  );
}
