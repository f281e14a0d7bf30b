import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BLOCK = 512;

/** `CAP_NET_BIND_SERVICE` permitted and effective, as the kernel keeps it (`struct vfs_cap_data`, revision 2). */
export const BINDS_LOW_PORTS = Buffer.from('0100000200040000000000000000000000000000', 'hex');

/** `user::rwx, user:65533:r--, group::r-x, mask::r-x, other::---`, as the kernel keeps it. */
export const READ_BY_65533 = Buffer.from(
  ['02000000', '01000700ffffffff', '02000400fdff0000', '04000500ffffffff', '10000500ffffffff', '20000000ffffffff'].join(
    '',
  ),
  'hex',
);

/**
 * Sets extended attributes of a file for a test, by GNU `tar` and `cp`, as Node can't and `setfattr` is on few machines.
 * `system.posix_acl_access` changes the mode too, as everywhere.
 */
export async function setExtendedAttributes(path: string, attributes: Readonly<Record<string, Buffer>>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-xattr-'));
  try {
    const records = Object.entries(attributes).map(([name, value]) => paxRecord(`SCHILY.xattr.${name}`, value));
    const sample = join(folder, 'sample');
    await writeFile(join(folder, 'a.tar'), archiveOfEmptyFile('sample', Buffer.concat(records)));
    await run('tar', ['--extract', '--xattrs', '--xattrs-include=*', '-C', folder, '-f', join(folder, 'a.tar')]);
    const what = 'system.posix_acl_access' in attributes ? 'mode,xattr' : 'xattr';
    await run('cp', ['--attributes-only', `--preserve=${what}`, '--', sample, path]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function archiveOfEmptyFile(name: string, records: Buffer): Buffer {
  const padding = Buffer.alloc((BLOCK - (records.length % BLOCK)) % BLOCK);
  return Buffer.concat([
    header('pax', 'x', records.length),
    records,
    padding,
    header(name, '0', 0),
    Buffer.alloc(2 * BLOCK),
  ]);
}

function header(name: string, type: 'x' | '0', size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write('0000750\0', 100);
  block.write('0000000\0'.repeat(2), 108);
  block.write(`${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124);
  block.write(' '.repeat(8) + type, 148);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself. */
function paxRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
