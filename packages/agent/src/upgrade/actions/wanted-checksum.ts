import { AgentError } from '../../agent-error.ts';
import type { WantedArtifact } from '../../runtime/runtime-adapter.ts';
import type { ActionParams } from '../action.ts';

type Known = Pick<ActionParams, 'artifact' | 'installedChecksum'>;

/** Checksum of what is to be installed; null while nobody knows it: a member of an archive not yet unpacked (A6). */
export function wantedChecksum({ artifact, installedChecksum }: Known): string | null {
  return installedChecksum ?? artifact.installedChecksum ?? (artifact.member === null ? artifact.checksum : null);
}

/** Like `wantedChecksum`, for the actions after `acquire_artifact`, which learned it. */
export function requireWantedChecksum(known: Known): string {
  const checksum = wantedChecksum(known);
  if (checksum !== null) return checksum;
  throw new AgentError('artifact_missing', `${known.artifact.name} was never acquired: run the upgrade again`);
}

/** The artifact with what was learned of it: by that a member is found again after a restart of the agent. */
export function knownArtifact(known: Known): WantedArtifact {
  const installedChecksum = wantedChecksum(known);
  return installedChecksum === null ? known.artifact : { ...known.artifact, installedChecksum };
}
