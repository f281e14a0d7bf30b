import { ActionIcon, Menu } from '@mantine/core';
import { useIdentity } from '../session/identity.tsx';
import { useSession } from '../session/session.tsx';

/** Who is signed in, what that one may do, and the way out. */
export function Account() {
  const { signOut } = useSession();
  const identity = useIdentity();
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <ActionIcon variant="default" aria-label="Account">
          <span aria-hidden>☺</span>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {identity === undefined ? 'Signed in' : `${identity.actor} may ${identity.scopes.join(', ')}`}
        </Menu.Label>
        <Menu.Item onClick={() => signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
