import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { writeWhole } from '../../host/write-whole.ts';
import { archiveRefused } from './archive-refusal.ts';

/** No binary of a node is larger; what claims to be is an archive that was made to fill the disk. */
const MAX_MEMBER_BYTES = 8 * 1024 ** 3;

export interface MemberFileOptions {
  readonly url: string;
  readonly member: string;
  readonly signal: AbortSignal;
  /** Called with the size that the archive declares before the first byte is written (A10). */
  readonly requireSpace: (bytes: number) => Promise<void>;
}

/** The member while it is unpacked: hashed as it is written, never longer than its archive says. */
export class MemberFile {
  readonly #file: FileHandle;
  readonly #options: MemberFileOptions;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #declared: number | null = null;

  constructor(file: FileHandle, options: MemberFileOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Whether the member was met. */
  get begun(): boolean {
    return this.#declared !== null;
  }

  /** @throws RuntimeError `archive_refused` for a second member of the name, or a size that no binary has */
  async begin(declaredBytes: number): Promise<void> {
    const { url, member, requireSpace } = this.#options;
    if (this.begun) throw archiveRefused(url, `it holds "${member}" twice, and nothing says which one is meant`);
    if (declaredBytes > MAX_MEMBER_BYTES) {
      throw archiveRefused(url, `"${member}" would have ${declaredBytes} bytes, ${MAX_MEMBER_BYTES} are the most`);
    }
    this.#declared = declaredBytes;
    await requireSpace(declaredBytes);
  }

  async take(content: AsyncIterable<Uint8Array>): Promise<void> {
    const { url, member, signal } = this.#options;
    for await (const chunk of content) {
      signal.throwIfAborted();
      if (this.#bytes + chunk.length > (this.#declared ?? 0)) {
        throw archiveRefused(url, `"${member}" is longer than the ${this.#declared} bytes that the archive says`);
      }
      await writeWhole(this.#file, chunk, this.#bytes);
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
    }
    if (this.#bytes !== this.#declared) {
      throw archiveRefused(url, `"${member}" ends after ${this.#bytes} of ${this.#declared} bytes`);
    }
  }

  /** `sha256:<hex>` of the whole member. */
  checksum(): string {
    return `sha256:${this.#hash.digest('hex')}`;
  }
}
