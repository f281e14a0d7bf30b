import { readFile } from 'node:fs/promises';
import { AgentError } from '../../agent-error.ts';

/**
 * @param user name or number of a user in /etc/passwd
 * @throws AgentError `unknown_user`
 */
export async function systemUser(user: string): Promise<{ uid: number; gid: number }> {
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (uid !== undefined && (name === user || uid === user)) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new AgentError('unknown_user', `the user "${user}" of the agent's configuration isn't in /etc/passwd`);
}
