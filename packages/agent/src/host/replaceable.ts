import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { explainingHostErrors, HostError } from './host-error.ts';

/**
 * Makes sure that a rename over `path` will work, before the node is stopped (A10): its folder can be written, and the
 * file is neither immutable nor a mount point. Touches nothing.
 * @param path links followed; it may not exist
 * @throws HostError `immutable` | `is_mount_point` | `read_only` | `permission_denied`
 */
export async function requireReplaceable(path: string): Promise<void> {
  for (const looked of [dirname(path), path]) {
    if (!(await isImmutable(looked))) continue;
    throw new HostError('immutable', `${path} can't be replaced, ${looked} is immutable: take that away by chattr -i`);
  }
  await explainingHostErrors(`replace ${path}`, () => access(dirname(path), constants.W_OK | constants.X_OK));
  if (!(await mountPoints()).has(path)) return;
  throw new HostError('is_mount_point', `${path} can't be replaced, it is a mount point: mount its folder instead`);
}

/** The kernel denies everybody, root too, to write what is immutable, and says EPERM; all else is no matter of a rename. */
async function isImmutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return false;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

async function mountPoints(): Promise<Set<string>> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n');
  const plain = (text: string) =>
    text.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  return new Set(lines.map((line) => plain(line.split(' ')[4] ?? '')));
}
