import type { FileHandle } from 'node:fs/promises';

/** Writes all bytes at a position: a write near the end of the disk may take only a part, and the next one says why. */
export async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const result = await file.write(bytes, written, bytes.length - written, position + written);
    written += result.bytesWritten;
  }
}
