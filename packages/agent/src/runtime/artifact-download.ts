import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { AgentError } from '../agent-error.ts';
import type { FileAttributes } from '../host/atomic-file.ts';
import { explainingHostErrors } from '../host/host-error.ts';
import { partBeside, writePartFile } from '../host/part-file.ts';
import { writeWhole } from '../host/write-whole.ts';
import { type Backoff, DEFAULT_BACKOFF, troubleOf, waitBeforeTry } from './download-backoff.ts';
import { openDownload, RangeRefused } from './download-request.ts';
import { RuntimeError } from './runtime-adapter.ts';

export interface Download {
  readonly url: string;
  /** `sha256:<hex>` of the bytes as they travel. */
  readonly checksum: string;
  /** Gets its name only when the checksum is right; until then the bytes are in `{target}.part`. */
  readonly target: string;
  readonly attributes: FileAttributes;
  /** Hosts from which plain http is allowed by the agent's configuration. */
  readonly allowHttpHosts: readonly string[];
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { receivedBytes: number; totalBytes: number | null }) => void;
  /** Called with the announced size before the first byte is written (A10). */
  readonly requireSpace: (bytes: number) => Promise<void>;
  readonly backoff?: Backoff;
}

/** What has arrived so far. */
interface Arrived {
  hash: Hash;
  bytes: number;
  /** Joined from more than one answer: then a wrong checksum may be the fault of the joining. */
  joined: boolean;
  total: number | null;
  /** Proves on resume that the rest belongs to the same file. */
  etag: string | null;
}

/**
 * Downloads a file, hashing it while it arrives (A11). Interrupted transfers go on where they stopped when the server
 * proves that it can; what is refused for good fails at once; nothing is left behind by a failure.
 * @throws RuntimeError `download_refused` | `download_failed` | `checksum_mismatch`
 */
export async function downloadArtifact(download: Download): Promise<void> {
  await explainingHostErrors(`download to ${partBeside(download.target)}`, () =>
    writePartFile(download.target, download.attributes, async (file) => {
      let arrived = await receive(download, file);
      // a proxy that closes a body early may count right and still send something else (field-case 28)
      if (arrived.joined && !isWanted(download, arrived)) arrived = await receive(download, file, false);
      requireChecksum(download, arrived);
    }),
  );
}

/** @param mayJoin whether an interrupted transfer may go on; otherwise every try is the whole file */
async function receive(download: Download, file: FileHandle, mayJoin = true): Promise<Arrived> {
  const backoff = download.backoff ?? DEFAULT_BACKOFF;
  let arrived = nothingArrived();
  let fruitless = 0;
  for (;;) {
    if (!mayJoin) arrived = nothingArrived();
    const before = arrived.bytes;
    try {
      arrived = await transfer(download, file, arrived);
      return arrived;
    } catch (error) {
      if (error instanceof AgentError || !(error instanceof Error) || isDiskError(error)) throw error;
      if (download.signal.aborted) throw tooLate(download, error);
      fruitless = mayJoin && arrived.bytes > before ? 1 : fruitless + 1;
      if (error instanceof RangeRefused) arrived = nothingArrived();
      if (fruitless >= backoff.fruitlessTries) throw givenUp(download, fruitless, error);
      if (!(await waitBeforeTry(fruitless, backoff, error, download.signal))) throw tooLate(download, error);
    }
  }
}

/** One request: from the beginning, or from where the last one ended. Fills `arrived` as bytes come in. */
async function transfer(download: Download, file: FileHandle, arrived: Arrived): Promise<Arrived> {
  const answer = await openDownload({
    url: download.url,
    allowHttpHosts: download.allowHttpHosts,
    signal: download.signal,
    from: arrived.bytes,
    total: arrived.total,
    etag: arrived.etag,
  });
  try {
    if (answer.resumed) arrived.joined = true;
    else {
      await file.truncate(0);
      Object.assign(arrived, nothingArrived());
    }
    arrived.total = answer.total;
    arrived.etag = answer.etag;
    if (arrived.bytes === 0 && answer.total !== null) await download.requireSpace(answer.total);
    for await (const chunk of answer.body) {
      const bytes = chunk as Buffer;
      if (answer.total === null) await requireSpaceNow(download, arrived.bytes, bytes.length);
      await writeWhole(file, bytes, arrived.bytes);
      arrived.hash.update(bytes);
      arrived.bytes += bytes.length;
      download.onProgress({ receivedBytes: arrived.bytes, totalBytes: arrived.total });
    }
  } finally {
    answer.body.destroy();
  }
  if (arrived.total !== null && arrived.bytes < arrived.total) {
    throw new Error(`the connection ended after ${arrived.bytes} of ${arrived.total} bytes`);
  }
  return arrived;
}

function nothingArrived(): Arrived {
  return { hash: createHash('sha256'), bytes: 0, joined: false, total: null, etag: null };
}

/** A body of unknown length may go on for ever: the disk is asked again and again while it comes. */
async function requireSpaceNow(download: Download, arrived: number, next: number): Promise<void> {
  const step = 16 * 1024 * 1024;
  if (arrived === 0 || Math.floor((arrived + next) / step) > Math.floor(arrived / step)) {
    await download.requireSpace(step);
  }
}

function isWanted({ checksum }: Download, { hash }: Arrived): boolean {
  return `sha256:${hash.copy().digest('hex')}` === checksum;
}

function requireChecksum(download: Download, arrived: Arrived): void {
  if (isWanted(download, arrived)) return;
  const checksum = `sha256:${arrived.hash.digest('hex')}`;
  throw new RuntimeError(
    'checksum_mismatch',
    `${download.url} delivered ${arrived.bytes} bytes with ${checksum}, the manifest wants ${download.checksum}: correct the manifest or the file behind the address`,
  );
}

function tooLate(download: Download, last: Error): RuntimeError {
  return new RuntimeError(
    'download_failed',
    `${basename(download.target)} could not be downloaded from ${download.url} in time; the last trouble: ${troubleOf(last)}`,
    { cause: last },
  );
}

function givenUp(download: Download, tries: number, last: Error): RuntimeError {
  return new RuntimeError(
    'download_failed',
    `${download.url} could not be downloaded in ${tries} tries; the last trouble: ${troubleOf(last)}`,
    { cause: last },
  );
}

/** ENOSPC and its kind come from our own file, not from the network: trying again doesn't help. */
function isDiskError(error: Error): boolean {
  return 'code' in error && ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EPERM'].includes(String(error.code));
}
