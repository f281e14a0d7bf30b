import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../runtime-adapter.ts';
import type { SystemUser } from '../system-user.ts';

/** Which systemd runs a unit, the machine's or that of one user, and where that one looks. */
export interface ManagerScope {
  /** Null: the machine's own. */
  readonly user: SystemUser | null;
  /** Where drop-ins that stay lie; of the machine's administrator for user units too, never in a user's home. */
  readonly permanentFolder: string;
  /** Where drop-ins that are gone after a reboot lie. */
  readonly runtimeFolder: string;
  /** Everywhere that units and drop-ins are read from (systemd.unit(5)), but for what generators write anew at each reload. */
  readonly unitFolders: readonly string[];
  /** Where hold files lie unless the agent is told otherwise. */
  readonly holdDir: string;
  /** The same as a unit file must say it: one drop-in speaks for the unit of this name of every user. */
  readonly holdDirInUnits: string;
  /** Where marks of this boot lie. */
  readonly bootDir: string;
}

const ADMINISTRATORS = ['/etc/systemd', '/run/systemd', '/usr/local/lib/systemd', '/usr/lib/systemd'];
const HOLD_DIR = '/var/lib/hoodcloud/hold';
/** Apart from the agent's state, which only root may look into: the user's systemd must see the file. */
const USERS_HOLD_DIR = '/var/lib/hoodcloud-hold';
const BOOT_DIR = '/run/hoodcloud';

export const MACHINE_SCOPE: ManagerScope = {
  user: null,
  permanentFolder: '/etc/systemd/system',
  runtimeFolder: '/run/systemd/system',
  unitFolders: [
    ...ADMINISTRATORS.map((folder) => join(folder, 'system')),
    '/etc/systemd/system.control',
    '/run/systemd/system.control',
    '/run/systemd/transient',
  ],
  holdDir: HOLD_DIR,
  holdDirInUnits: HOLD_DIR,
  bootDir: BOOT_DIR,
};

export function userScope(user: SystemUser): ManagerScope {
  const own = [
    join(user.home, '.config/systemd'),
    join(user.home, '.local/share/systemd'),
    `${runtimeDirOf(user)}/systemd`,
  ];
  return {
    user,
    permanentFolder: '/etc/systemd/user',
    runtimeFolder: '/run/systemd/user',
    unitFolders: [...ADMINISTRATORS, ...own].flatMap((folder) => [
      join(folder, 'user'),
      join(folder, 'user.control'),
      join(folder, 'transient'),
    ]),
    holdDir: join(USERS_HOLD_DIR, user.name),
    holdDirInUnits: join(USERS_HOLD_DIR, '%u'),
    bootDir: join(BOOT_DIR, user.name),
  };
}

/** `$XDG_RUNTIME_DIR`: through it a user's systemd is reached. */
export function runtimeDirOf({ uid }: SystemUser): string {
  return `/run/user/${uid}`;
}

/**
 * Without it a user's systemd starts at a login and ends with the last one, its units too.
 * @throws RuntimeError `no_linger`
 */
export function requireLinger({ user }: ManagerScope): void {
  if (user === null || existsSync(join('/var/lib/systemd/linger', user.name))) return;
  const sentence = `units of ${user.name} end with the last login of that user and don't start at boot: run \`loginctl enable-linger ${user.name}\``;
  throw new RuntimeError('no_linger', sentence);
}
