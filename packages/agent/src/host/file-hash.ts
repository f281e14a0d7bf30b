import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errnoOf } from '../agent-error.ts';

const CHUNK_BYTES = 1 << 20;
const CACHE_ENTRIES = 64;

/** `sha256:<hex>` of bytes. */
export function checksumOf(content: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** `sha256:<hex>` of a file, read now and whole. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES, ...(signal ? { signal } : {}) });
  for await (const chunk of stream) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

/** Like `hashFile`; null when there is no such file. */
export async function hashFileIfThere(path: string): Promise<string | null> {
  try {
    return await hashFile(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Hashes of files that have not changed since they were hashed, told by device, inode, size and modification time.
 *
 * A rename keeps all four, so what was hashed beside the install path before the stop needs no hashing after the swap,
 * and `/proc/<pid>/exe` of the process that runs it needs none either: no hashing inside the downtime (A4).
 * Never used where a checksum guards against damage (three-way check, A12): that reads the disk.
 */
export class FileHashes {
  readonly #known = new Map<string, string>();

  /** `sha256:<hex>`; null when there is no such file, or the process behind `/proc/<pid>/exe` has gone. */
  async of(path: string): Promise<string | null> {
    try {
      const identity = await identityOf(path);
      const known = this.#known.get(identity);
      if (known !== undefined) return known;
      const hash = await hashFile(path);
      if ((await identityOf(path)) === identity) this.#remember(identity, hash);
      return hash;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ESRCH') return null;
      throw error;
    }
  }

  /** Takes over a hash that was computed while the file was written. */
  async learn(path: string, hash: string): Promise<void> {
    this.#remember(await identityOf(path), hash);
  }

  #remember(identity: string, hash: string): void {
    const oldest = this.#known.keys().next();
    if (this.#known.size >= CACHE_ENTRIES && !oldest.done) this.#known.delete(oldest.value);
    this.#known.set(identity, hash);
  }
}

async function identityOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}
