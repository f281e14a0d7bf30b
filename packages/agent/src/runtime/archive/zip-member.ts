import type { Entry } from 'yauzl';
import { archiveRefused, entryName, explainArchiveError, memberMissing } from './archive-refusal.ts';
import type { MemberFile } from './member-file.ts';
import type { ArchiveToRead } from './tar-member.ts';

const STORED = 0;
const DEFLATED = 8;
const MADE_BY_UNIX = 3;
const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;

/** Takes one member out of a zip; its directory is read whole first, so that a second member of the name is seen. */
export async function readZipMember(archive: ArchiveToRead, into: MemberFile): Promise<void> {
  const { openPromise } = await import('yauzl'); // only when there is an archive: the agent carries as little as possible
  const { path, url, member } = archive;
  try {
    const zip = await openPromise(path, { autoClose: false });
    try {
      const entries: Entry[] = [];
      const names: string[] = [];
      for await (const entry of zip.eachEntry()) {
        archive.signal.throwIfAborted();
        const name = entryName(entry.fileName);
        if (!name.endsWith('/')) names.push(name);
        if (name === member) entries.push(entry);
      }
      const [entry] = entries;
      if (entry === undefined) throw memberMissing(url, member, names);
      requirePlainFile(archive, entry);
      for (const { uncompressedSize } of entries) await into.begin(uncompressedSize);
      await into.take(await zip.openReadStreamPromise(entry));
    } finally {
      zip.close();
    }
  } catch (error) {
    throw explainArchiveError(error, url, archive.signal);
  }
}

function requirePlainFile({ url, member }: ArchiveToRead, entry: Entry): void {
  const type = entry.versionMadeBy >>> 8 === MADE_BY_UNIX ? (entry.externalFileAttributes >>> 16) & FILE_TYPE : 0;
  if (type !== 0 && type !== REGULAR_FILE) {
    throw archiveRefused(url, `"${member}" is no file but a link or a device: name the file itself`);
  }
  if (entry.isEncrypted()) throw archiveRefused(url, `"${member}" is encrypted: publish it without a password`);
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw archiveRefused(url, `"${member}" is compressed by method ${entry.compressionMethod}: use deflate or store`);
  }
}
