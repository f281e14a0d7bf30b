import type { AttemptRecord } from '../upgrade/attempt-record.ts';
import { payloadOf } from './rollback-order.ts';

/**
 * Versions by checksum, as the attempts of this host named them: what an attempt installed is its target, what it found its
 * source. The newest attempt that names one is right.
 * @param records newest first
 */
export function versionNames(records: readonly AttemptRecord[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const name = (checksum: string | null | undefined, version: string) => {
    if (checksum && version !== '' && version !== 'unknown' && !names.has(checksum)) names.set(checksum, version);
  };
  for (const record of records) {
    const { artifact, sourceVersion, targetVersion } = payloadOf(record);
    const member = artifact?.member ?? '';
    name(record.progress.installedChecksum ?? (member === '' ? artifact?.checksum : null), targetVersion);
    name(record.before.installedChecksum, sourceVersion);
  }
  return names;
}
