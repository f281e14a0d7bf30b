import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentConfig } from './agent-config.ts';
import { forgetCredential, loadCredential, storeCredential } from './agent-credential.ts';
import { AgentError } from './agent-error.ts';
import { adapterFor, sharedByAdapters } from './component-adapters.ts';
import { join as joinGateway } from './gateway-channel.ts';
import { replaceFile } from './host/atomic-file.ts';
import { abandonOwnAttempts } from './self-upgrade/abandon-own-attempts.ts';
import { ownComponent } from './self-upgrade/own-component.ts';
import { openOperations } from './upgrade/attempt-record.ts';
import { AttemptStore } from './upgrade/attempt-store.ts';
import { backupRoot } from './upgrade/backup-retention.ts';

/**
 * Joins the control plane (B3). The host is prepared first, since the token can be used only once.
 * @throws AgentError `already_joined` | `join_refused` | `gateway_unreachable`
 */
export async function joinHost(config: AgentConfig, token: string, say: (line: string) => void): Promise<void> {
  const known = await loadCredential(config.state_dir);
  if (known !== null) {
    throw new AgentError(
      'already_joined',
      `this host has joined as ${known.nodeName || known.nodeId}: run \`hoodcloud-agent leave\` first to join anew`,
    );
  }
  const shared = sharedByAdapters();
  for (const component of config.components) await adapterFor(config, component, shared).prepare();
  const { nodeId, nodeName, credential } = await joinGateway(config.control_plane, token);
  const left = await (await AttemptStore.open(config.state_dir, () => undefined)).setOpenAside();
  for (const id of left)
    say(`attempt ${id} was open when this host left: nobody goes on with it, see what it left behind`);
  await storeCredential(config.state_dir, { nodeId, nodeName, credential });
  say(`joined as ${nodeName} (${nodeId}); now start the agent: systemctl start hoodcloud-agent`);
}

export interface LeaveOptions {
  /** Also while an attempt is open: a node that it holds down stays down until its operator starts it. */
  readonly force: boolean;
  /** A later installation goes on as the same node. */
  readonly keepCredential: boolean;
}

/**
 * Leaves the control plane: nodes go on, what would hold them down is removed, and a list of where the backups lie is left
 * in `{state_dir}/backup-folders` for whoever removes the agent. Idempotent.
 * @throws AgentError `upgrade_open` while an attempt is not settled: a held node would stay half changed
 */
export async function leaveHost(
  config: AgentConfig,
  { force, keepCredential }: LeaveOptions,
  say: (line: string) => void,
): Promise<void> {
  if (existsSync(config.state_dir)) await (force ? abandonOwn(config) : refuseWhileOpen(config.state_dir));
  const shared = sharedByAdapters();
  for (const component of config.components) {
    const leaving = adapterFor(config, component, shared).leave();
    await (force ? leaving.catch((error: Error) => say(`${component.binary_name}: ${error.message}`)) : leaving);
  }
  if (existsSync(config.state_dir)) {
    const folders = config.components.map(({ data_dir }) => `${backupRoot(data_dir)}\n`);
    await replaceFile(join(config.state_dir, 'backup-folders'), folders.join(''));
  }
  if (!keepCredential) await forgetCredential(config.state_dir);
  say(`left: ${keepCredential ? '' : 'the credential and '}the holds are gone, the nodes go on running`);
}

/** What is open on a node goes on after a later installation; on the agent itself nothing is left to go on with. */
async function abandonOwn(config: AgentConfig): Promise<void> {
  const own = ownComponent(config);
  if (own === undefined) return;
  await abandonOwnAttempts(await AttemptStore.open(config.state_dir, () => undefined), own.binary_name);
}

async function refuseWhileOpen(stateDir: string): Promise<void> {
  const store = await AttemptStore.open(stateDir, () => undefined);
  const open = (await store.list()).find((record) => openOperations(record).length > 0);
  if (open === undefined) return;
  throw new AgentError(
    'upgrade_open',
    `attempt ${open.attemptId} of ${open.binaryName} is under way: let \`hoodcloud-agent run\` finish it before you leave`,
  );
}
