/** One entry of an archive: a folder, a symbolic link, or a file. */
export interface TarEntry {
  readonly name: string;
  readonly mode?: number;
  readonly owner?: number;
  readonly content: { readonly file: string | Buffer } | { readonly link: string } | 'folder';
}

/** A ustar archive with nothing in it that changes from run to run: owner root, time 0. Names of at most 100 bytes. */
export function tarArchive(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(entryBlocks), Buffer.alloc(1024)]);
}

function entryBlocks(entry: TarEntry): Buffer[] {
  const { content, owner = 0 } = entry;
  const data = content !== 'folder' && 'file' in content ? Buffer.from(content.file) : Buffer.alloc(0);
  const link = content !== 'folder' && 'link' in content ? content.link : undefined;
  const header = Buffer.alloc(512);
  header.write(entry.name, 0, 100);
  header.write(octal(entry.mode ?? 0o755, 8), 100);
  header.write(octal(owner, 8), 108);
  header.write(octal(owner, 8), 116);
  header.write(octal(data.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(' '.repeat(8), 148); // the checksum is taken over blanks in its own place
  header.write(content === 'folder' ? '5' : link === undefined ? '0' : '2', 156);
  header.write(link ?? '', 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148);
  return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
