import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, errnoOf } from './agent-error.ts';
import { removeDurably, replaceFile } from './host/atomic-file.ts';

/** Who this host is to its control plane (B3). */
export interface AgentCredential {
  readonly nodeId: string;
  readonly nodeName: string;
  /** Secret: never logged. */
  readonly credential: string;
}

function pathIn(stateDir: string): string {
  return join(stateDir, 'credential.json');
}

/** Null when this host has not joined. */
export async function loadCredential(stateDir: string): Promise<AgentCredential | null> {
  const path = pathIn(stateDir);
  try {
    const { nodeId, nodeName, credential } = JSON.parse(await readFile(path, 'utf8')) as Partial<AgentCredential>;
    if (nodeId && credential) return { nodeId, nodeName: nodeName ?? '', credential };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AgentError(
    'credential_unreadable',
    `${path} can't be understood: remove it and join again with a new token`,
  );
}

/** Readable by the agent alone, and on the disk when it resolves: the token that bought it can't be used again. */
export async function storeCredential(stateDir: string, credential: AgentCredential): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  await replaceFile(pathIn(stateDir), `${JSON.stringify(credential)}\n`, { mode: 0o600, ...owner });
}

/** Idempotent. */
export async function forgetCredential(stateDir: string): Promise<void> {
  if ((await loadCredential(stateDir)) !== null) await removeDurably(pathIn(stateDir));
}
