import { open } from 'node:fs/promises';
import { RuntimeError } from '../runtime-adapter.ts';

export type ArchiveFormat = 'tar.gz' | 'tar.xz' | 'zip';

const SIGNATURES: readonly (readonly [ArchiveFormat, Buffer])[] = [
  ['tar.gz', Buffer.from([0x1f, 0x8b])],
  ['tar.xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])],
  ['zip', Buffer.from('PK\x03\x04', 'latin1')],
];

/**
 * Tells the format by the first bytes: addresses end in anything, most of all after a redirect.
 * @throws RuntimeError `archive_unsupported`
 */
export async function archiveFormat(path: string, url: string): Promise<ArchiveFormat> {
  const file = await open(path, 'r');
  try {
    const start = Buffer.alloc(8);
    await file.read(start, 0, start.length, 0);
    const found = SIGNATURES.find(([, signature]) => start.subarray(0, signature.length).equals(signature));
    if (found) return found[0];
  } finally {
    await file.close();
  }
  throw new RuntimeError(
    'archive_unsupported',
    `${url} is no .tar.gz, .tar.xz or .zip: leave "member" out of the manifest when it is the binary itself`,
  );
}
