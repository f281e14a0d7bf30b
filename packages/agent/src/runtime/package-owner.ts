import { errnoOf } from '../agent-error.ts';
import { callProgram } from '../host/program-call.ts';

const TIMEOUT_MS = 20_000;

/** The Debian package that a file belongs to, by its name; null when it belongs to none, or the host has no dpkg. */
export async function packageOf(path: string): Promise<string | null> {
  try {
    // packages made before /bin became a link to /usr/bin know their files by the short path
    const paths = [path, path.replace(/^\/usr/, '')];
    const { stdout } = await callProgram('dpkg-query', ['--search', ...paths], AbortSignal.timeout(TIMEOUT_MS));
    return /^([^:\s]+)(:\S+)?: /m.exec(stdout)?.[1] ?? null;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
