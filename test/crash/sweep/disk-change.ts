import { resolve } from 'node:path';
import type { SystemCall } from './strace-log.ts';

/** What a system call did, or tried to do, to files: the kinds that issue and specification name. */
export type ChangeKind =
  | 'open_for_write'
  | 'write'
  | 'fsync'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'rmdir'
  | 'chmod'
  | 'chown'
  | 'setxattr'
  | 'utimes';

/** One mutating system call. */
export interface DiskChange {
  readonly kind: ChangeKind;
  readonly thread: number;
  /** Its name in the kernel: `fchmod`, `renameat2`. */
  readonly call: string;
  /** The file or folder that changes; of a rename the old name. */
  readonly path: string;
  /** New name of a rename or a link. */
  readonly to: string | null;
  readonly succeeded: boolean;
  /** The file was not there before. */
  readonly creates: boolean;
}

const KINDS: Readonly<Record<string, ChangeKind>> = {
  open: 'open_for_write',
  openat: 'open_for_write',
  creat: 'open_for_write',
  write: 'write',
  writev: 'write',
  pwrite64: 'write',
  pwritev: 'write',
  ftruncate: 'write',
  truncate: 'write',
  fallocate: 'write',
  copy_file_range: 'write',
  sendfile: 'write',
  fsync: 'fsync',
  fdatasync: 'fsync',
  rename: 'rename',
  renameat: 'rename',
  renameat2: 'rename',
  link: 'link',
  linkat: 'link',
  symlink: 'link',
  symlinkat: 'link',
  unlink: 'unlink',
  unlinkat: 'unlink',
  mkdir: 'mkdir',
  mkdirat: 'mkdir',
  rmdir: 'rmdir',
  chmod: 'chmod',
  fchmod: 'chmod',
  fchmodat: 'chmod',
  chown: 'chown',
  lchown: 'chown',
  fchown: 'chown',
  fchownat: 'chown',
  setxattr: 'setxattr',
  lsetxattr: 'setxattr',
  fsetxattr: 'setxattr',
  removexattr: 'setxattr',
  lremovexattr: 'setxattr',
  fremovexattr: 'setxattr',
  utimensat: 'utimes',
};

/** Every system call that can change a file, for `strace -e trace=`. */
export const MUTATING_CALLS: readonly string[] = Object.keys(KINDS);

const WRITE_FLAGS = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/;
/** A descriptor with its path, or a folder with a name below it, or a name alone. */
const OPERAND = /(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>(?:\(deleted\))?(?:, "((?:[^"\\]|\\.)*)")?|"((?:[^"\\]|\\.)*)"/g;

/** What a call does to a file with a name; null for one that changes none (a read, a pipe, a socket). */
export function diskChangeOf({ thread, name, args, result }: SystemCall): DiskChange | null {
  const kind = KINDS[name];
  if (kind === undefined || (kind === 'open_for_write' && name !== 'creat' && !WRITE_FLAGS.test(args))) return null;
  const operands = operandsOf(args);
  const [path, to = null] = name === 'copy_file_range' ? operands.slice(1) : operands;
  if (path === undefined || !path.startsWith('/')) return null;
  return {
    kind,
    thread,
    call: name,
    path,
    to: kind === 'rename' || kind === 'link' ? to : null,
    succeeded: /^(?!-1 |\?)/.test(result),
    creates: kind === 'open_for_write' && /O_EXCL/.test(args),
  };
}

/** Every path that a call's arguments name, by itself or by an open descriptor. */
export function operandsOf(args: string): string[] {
  return [...args.matchAll(OPERAND)].map(([, folder = '', below = '', alone]) => {
    if (alone !== undefined) return alone;
    return below === '' ? folder : resolve(folder, below); // what is written is shown as an empty string
  });
}
