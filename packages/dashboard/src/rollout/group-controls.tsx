import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutGroupDetail } from '@hoodcloud/contracts/http/rollout-groups';
import { Group } from '@mantine/core';
import { OrderButton } from '../components/order-button.tsx';
import { useSession } from '../session/session.tsx';
import { GROUP_CONTROL_WORDS } from './group-control-words.ts';

/** Those of a group that are legal now. */
export function GroupControls({ group }: { readonly group: RolloutGroupDetail }) {
  const { api } = useSession();
  return (
    <Group gap="xs" role="group" aria-label="Controls of the group">
      {group.legal_controls.map((kind) => {
        const { button, consequence } = GROUP_CONTROL_WORDS[kind];
        const question = () => ({
          title: `${button}: ${group.chain_profile_id}`,
          consequence,
          button,
          grave: kind !== 'pause',
          path: PATHS.groupControl(group.id, kind),
          seen: api.seenAt(PATHS.group(group.id)),
        });
        return (
          <OrderButton key={kind} label={button} question={question} plain={kind !== 'pause' && kind !== 'resume'} />
        );
      })}
    </Group>
  );
}
