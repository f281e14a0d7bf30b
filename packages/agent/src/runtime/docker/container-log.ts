import type { Engine } from './engine.ts';

const HEADER_BYTES = 8;

/**
 * The last lines that a container wrote since a time, oldest first (A18).
 * @param sinceMs milliseconds since 1970; null: everything that is kept
 */
export async function containerLog(
  engine: Engine,
  container: { readonly id: string; readonly tty: boolean },
  maxLines: number,
  sinceMs: number | null,
): Promise<string[]> {
  const since = sinceMs === null ? 0 : sinceMs / 1000;
  const bytes = await engine.call(`read the log of ${container.id.slice(0, 12)}`, null, (docker) =>
    docker.getContainer(container.id).logs({ follow: false, stdout: true, stderr: true, tail: maxLines, since }),
  );
  const text = (container.tty ? bytes : withoutHeaders(bytes)).toString('utf8');
  return text.split(/\r?\n/).filter((line, index, lines) => line !== '' || index < lines.length - 1);
}

/** Without a terminal the engine puts a header before each piece: which stream, three zeros, length. */
function withoutHeaders(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4);
    pieces.push(bytes.subarray(at + HEADER_BYTES, end));
    at = end;
  }
  return Buffer.concat(pieces);
}
