import { AgentError, errnoOf } from '../../agent-error.ts';
import { RuntimeError } from '../runtime-adapter.ts';

/** An archive that is not unpacked, whatever else is in it; `why` says which part and what to do. */
export function archiveRefused(url: string, why: string, cause?: unknown): RuntimeError {
  return new RuntimeError('archive_refused', `${url} is refused: ${why}`, cause === undefined ? undefined : { cause });
}

/** What the libraries say of a damaged archive is for programmers; our own sentences and the disk's errors stay. */
export function explainArchiveError(error: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof AgentError || !(error instanceof Error) || errnoOf(error) !== null)
    return error;
  const [, path] = /^(?:invalid relative path|absolute path): (.*)$/s.exec(error.message) ?? [];
  if (path !== undefined) return archiveRefused(url, `"${path}" leads out of the folder`, error);
  if (/error code 6$/.test(error.message)) {
    return archiveRefused(
      url,
      'its xz options are not known here: pack it with `xz --check=crc64` and no filter',
      error,
    );
  }
  return archiveRefused(url, `it can't be read (${error.message}): the archive is damaged or of another kind`, error);
}

/** An archive without the member that the manifest names; some of the files that it has are told. */
export function memberMissing(url: string, member: string, files: readonly string[]): RuntimeError {
  const known = files.length === 0 ? 'it holds no file' : `it holds ${files.slice(0, 8).join(', ')}`;
  return new RuntimeError(
    'member_missing',
    `${url} has no file "${member}": ${known}; correct "member" in the manifest`,
  );
}

/** Name of an entry as manifests write it, without the "./" of `tar -C folder .`. */
export function entryName(path: string): string {
  return path.replace(/^(\.\/+)+/, '');
}

/** Nothing but the member is written, and never to a path of the archive; one that has such paths is up to no good. */
export function leavesFolder(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.split(/[/\\]/).includes('..');
}
