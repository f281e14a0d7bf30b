import { AgentError } from '../../agent-error.ts';
import type { ActionParams } from '../action.ts';

type Known = Pick<ActionParams, 'artifact' | 'installedChecksum'>;

/** Checksum of what is to be installed; null while nobody knows it: a member of an archive not yet unpacked (A6). */
export function wantedChecksum({ artifact, installedChecksum }: Known): string | null {
  return installedChecksum ?? (artifact.member === null ? artifact.checksum : null);
}

/** Like `wantedChecksum`, for the actions after `acquire_artifact`, which learned it. */
export function requireWantedChecksum(known: Known): string {
  const checksum = wantedChecksum(known);
  if (checksum !== null) return checksum;
  throw new AgentError('artifact_missing', `${known.artifact.name} was never acquired: run the upgrade again`);
}
