import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createGunzip } from 'node:zlib';
import type { Parser, ReadEntry } from 'tar';
import { archiveRefused, entryName, explainArchiveError, leavesFolder, memberMissing } from './archive-refusal.ts';
import type { MemberFile } from './member-file.ts';

export interface ArchiveToRead {
  readonly path: string;
  /** For messages. */
  readonly url: string;
  readonly member: string;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
}

const PLAIN_FILES = ['File', 'OldFile', 'ContiguousFile'];
/** Releases shrink to a third or so; what grows a hundredfold was made to keep somebody busy. */
const MAX_GROWTH = 100;
const ALWAYS_ALLOWED_BYTES = 64 * 1024 * 1024;

/**
 * Takes one member out of a compressed tar, in one pass and without holding it in memory. The archive is read to its end,
 * so that a second member of the name is seen.
 */
export async function readTarMember(archive: ArchiveToRead, compression: 'gz' | 'xz', into: MemberFile): Promise<void> {
  const { Parser } = await import('tar'); // only when there is an archive: the agent carries as little as possible
  const walk = new TarWalk(archive, into);
  const parser = new Parser({ strict: true, onReadEntry: (entry) => walk.meet(entry) });
  const content = compression === 'gz' ? gunzipped(archive) : await unxzed(archive);
  try {
    await feed(parser, content, archive, walk);
  } catch (error) {
    throw walk.failure ?? explainArchiveError(error, archive.url, archive.signal);
  }
  await walk.done();
}

/** What is done with each entry; at most one is written. */
class TarWalk {
  readonly #archive: ArchiveToRead;
  readonly #into: MemberFile;
  readonly #names: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  failure: Error | null = null;

  constructor(archive: ArchiveToRead, into: MemberFile) {
    this.#archive = archive;
    this.#into = into;
  }

  meet(entry: ReadEntry): void {
    const name = entryName(entry.path);
    const refusal = this.#refusal(entry, name);
    if (refusal !== null) this.failure ??= refusal;
    if (PLAIN_FILES.includes(entry.type)) this.#names.push(name);
    if (this.failure !== null || name !== this.#archive.member) {
      entry.resume();
      return;
    }
    this.#writing = this.#write(entry).catch((error: Error) => {
      this.failure ??= error; // the reader of the archive stops at once and throws it
      entry.resume();
    });
  }

  /** @throws what went wrong while the member was written, or that it was never met */
  async done(): Promise<void> {
    await this.#writing;
    if (this.failure !== null) throw this.failure;
    if (!this.#into.begun) throw memberMissing(this.#archive.url, this.#archive.member, this.#names);
  }

  async #write(entry: ReadEntry): Promise<void> {
    await this.#into.begin(entry.size);
    await this.#into.take(entry);
  }

  #refusal(entry: ReadEntry, name: string): Error | null {
    const { url, member } = this.#archive;
    if (leavesFolder(entry.path)) return archiveRefused(url, `"${entry.path}" leads out of the folder`);
    if (name !== member || PLAIN_FILES.includes(entry.type)) return null;
    const link = entry.linkpath ? ` to "${entry.linkpath}"` : '';
    return archiveRefused(url, `"${name}" is no file but a ${entry.type}${link}: name the file itself`);
  }
}

/** Writes everything to the parser as fast as it takes it; ends early when something failed. */
async function feed(
  parser: Parser,
  content: Readable,
  { url, sizeBytes, signal }: ArchiveToRead,
  walk: TarWalk,
): Promise<void> {
  const most = Math.max(ALWAYS_ALLOWED_BYTES, MAX_GROWTH * sizeBytes);
  const broken = new Promise<never>((_, reject) => parser.once('error', reject));
  broken.catch(() => undefined); // heard at the next wait
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > most) throw archiveRefused(url, `it grows to more than ${most} bytes while it is unpacked`);
    if (!parser.write(chunk)) await Promise.race([once(parser, 'drain', { signal }), broken]);
    if (walk.failure !== null) throw walk.failure;
  }
  const ended = once(parser, 'end', { signal });
  parser.end();
  await Promise.race([ended, broken]);
}

function gunzipped({ path }: ArchiveToRead): Readable {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  gunzip.on('close', () => file.destroy());
  return file.pipe(gunzip);
}

async function unxzed({ path }: ArchiveToRead): Promise<Readable> {
  const { XzReadableStream } = await import('xz-decompress');
  const compressed = Readable.toWeb(createReadStream(path)) as globalThis.ReadableStream<Uint8Array>;
  return Readable.fromWeb(new XzReadableStream(compressed) as ReadableStream<Uint8Array>);
}
