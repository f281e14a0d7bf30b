import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { loadCredential } from '../../agent-credential.ts';
import { AgentError } from '../../agent-error.ts';
import { isAgentRunning } from '../../agent-lock.ts';
import { type Check, type Finding, ok, trouble, warning } from './finding.ts';

/** Whether the host has joined, keeps its credential to itself, and its agent runs. */
export const checkMembership: Check = async ({ config }) => [
  await credential(config.state_dir),
  (await isAgentRunning(config.state_dir))
    ? ok('agent', 'the agent runs')
    : trouble('agent', 'the agent does not run', 'start it: systemctl start hoodcloud-agent'),
  process.getuid?.() === 0
    ? ok('user', 'this runs as root')
    : warning('user', 'this does not run as root, so some checks could not look', 'run doctor as root'),
];

async function credential(stateDir: string): Promise<Finding> {
  try {
    const known = await loadCredential(stateDir);
    if (known === null) {
      const todo = 'make a token with `hoodctl node join-token NODE` and run `hoodcloud-agent join --token TOKEN`';
      return trouble('credential', 'this host has not joined', todo);
    }
    const path = join(stateDir, 'credential.json');
    const mode = (await stat(path)).mode & 0o777;
    if ((mode & 0o077) !== 0) {
      return trouble('credential', `${path} has mode ${mode.toString(8)}: others may read it`, `chmod 600 ${path}`);
    }
    return ok('credential', `joined as ${known.nodeName} (${known.nodeId})`);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return trouble('credential', error.message, 'remove it and join again with a new token');
  }
}
