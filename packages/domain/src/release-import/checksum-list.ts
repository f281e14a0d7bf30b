import { sameHash } from './announced-checksum.ts';
import { type AnnouncedChecksum, type AnnouncedFile, type Announcement, fileNameOf } from './announcement.ts';
import { type ImportDefect, importDefect } from './import-defects.ts';

/** One line of a list of checksums. */
interface ListedChecksum extends AnnouncedChecksum {
  /** Name of the file it is of, without folders. */
  readonly name: string;
}

/** A list as it was read. */
export interface ChecksumList {
  readonly sums: readonly ListedChecksum[];
  readonly defects: readonly ImportDefect[];
}

/** `SHA256 (NAME) = HASH`, as BSD's and OpenSSL's tools write it. */
const BSD = /^([A-Z0-9/-]+) ?\((.+)\) ?= ?(\S+)$/;
/** `HASH  NAME` or `HASH *NAME`, as `sha256sum`, `shasum` and goreleaser write it. */
const GNU = /^\\?([0-9a-fA-F]{16,})[ \t]+\*?(\S.*)$/;
const ALONE = /^([0-9a-fA-F]{16,})$/;

/**
 * Reads what a project publishes beside its files: SHA256SUMS, checksums.txt of goreleaser, `NAME.sha256` of one file. A list
 * given for checksums is of SHA-256, unless its own name or line says otherwise.
 * @param file name of the list, or its address
 */
export function readChecksumList(text: string, file: string): ChecksumList {
  const sums: ListedChecksum[] = [];
  const defects: ImportDefect[] = [];
  const other = otherAlgorithm(fileNameOf(file));
  for (const { line, number } of contentLines(text)) {
    const place = { file, field: `line ${number}` };
    const found = readLine(line, file);
    if (found === null) {
      defects.push(importDefect('checksum_line_malformed', place, { line: line.slice(0, 100) }));
      continue;
    }
    const algorithm = found.algorithm ?? other;
    const named = algorithm === null ? found.hash : `${algorithm}:${found.hash}`;
    sums.push({ ...place, name: fileNameOf(found.name), text: named, says: 'sha256' });
  }
  return { sums, defects };
}

function readLine(line: string, file: string): { hash: string; name: string; algorithm: string | null } | null {
  const [, algorithm, bsdName, bsdHash] = BSD.exec(line) ?? [];
  if (algorithm && bsdName && bsdHash)
    return { hash: bsdHash, name: bsdName, algorithm: algorithm.replace(/^SHA2-/, 'SHA') };
  const [, hash, name] = GNU.exec(line) ?? [];
  if (hash && name) return { hash, name, algorithm: null };
  const [, alone] = ALONE.exec(line) ?? [];
  const own = fileNameOf(file).replace(/\.(sha256|sha256sum|sha256\.txt)$/i, '');
  return alone && own !== fileNameOf(file) ? { hash: alone, name: own, algorithm: null } : null;
}

/** The algorithm that a list's name says, where it is not SHA-256. */
function otherAlgorithm(name: string): string | null {
  return (
    /(?:^|[^a-z0-9])(md5|sha-?1|sha-?384|sha-?512|sha3-?256|blake2[bs]?|blake3|b2)(?:sums?)?(?![0-9])/i.exec(
      name,
    )?.[1] ?? null
  );
}

/** Lines that say something: without comments, and of a signed list without the signature around it. */
function contentLines(text: string): { line: string; number: number }[] {
  const signature = text.indexOf('-----BEGIN PGP SIGNATURE-----');
  const body = signature < 0 ? text : text.slice(0, signature);
  return body
    .split(/\r?\n/)
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '' && !/^(#|-----BEGIN PGP SIGNED MESSAGE|Hash: )/.test(line));
}

/** The announcement with the checksums that lists give for its files; of two that differ neither counts. */
export function withChecksums(announcement: Announcement, lists: readonly ChecksumList[]): Announcement {
  const sums = lists.flatMap((list) => list.sums);
  const defects = [...announcement.defects, ...lists.flatMap((list) => list.defects)];
  const files = announcement.files.map((file): AnnouncedFile => {
    const given = sums.filter(({ name }) => name === fileNameOf(file.url) || name === decodedName(file.url));
    const [one, ...others] = file.checksum === null ? given : [...given, file.checksum];
    const other = others.find((sum) => one && sameHash(one) !== sameHash(sum));
    if (one === undefined) return file;
    if (other === undefined) return { ...file, checksum: one };
    return { ...file, checksum: one, disputedBy: other };
  });
  return { ...announcement, files, defects };
}

function decodedName(url: string): string {
  const name = fileNameOf(url);
  return /%(?![0-9a-f]{2})/i.test(name) ? name : decodeURIComponent(name);
}
