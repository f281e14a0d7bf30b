import { readFileSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';

/** One line of /etc/passwd. */
export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/**
 * @param user name or number of a user in /etc/passwd
 * @throws AgentError `unknown_user`
 */
export function systemUser(user: string): SystemUser {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name = '', , uid, gid, , home = ''] = line.split(':');
    if (uid !== undefined && (name === user || uid === user)) return { name, uid: Number(uid), gid: Number(gid), home };
  }
  throw new AgentError('unknown_user', `the user "${user}" of the agent's configuration isn't in /etc/passwd`);
}
