import { AgentError } from '../agent-error.ts';
import { type Backoff, DEFAULT_BACKOFF, troubleOf, waitBeforeTry } from './download-backoff.ts';
import { openDownload } from './download-request.ts';
import { RuntimeError } from './runtime-adapter.ts';

const MAX_BYTES = 256 * 1024;

export interface TextDownload {
  readonly url: string;
  readonly allowHttpHosts: readonly string[];
  readonly signal: AbortSignal;
  readonly backoff?: Backoff;
}

/**
 * Downloads a small text such as a signature, by the rules of every download (A11).
 * @throws RuntimeError `download_refused` | `download_failed`
 */
export async function downloadText(download: TextDownload): Promise<string> {
  const { url, signal, backoff = DEFAULT_BACKOFF } = download;
  for (let tries = 1; ; tries++) {
    try {
      return await transfer(download);
    } catch (error) {
      if (error instanceof AgentError || !(error instanceof Error)) throw error;
      const goOn =
        tries < backoff.fruitlessTries && !signal.aborted && (await waitBeforeTry(tries, backoff, error, signal));
      if (goOn) continue;
      const sentence = `${url} could not be downloaded in ${tries} tries; the last trouble: ${troubleOf(error)}`;
      throw new RuntimeError('download_failed', sentence, { cause: error });
    }
  }
}

async function transfer({ url, allowHttpHosts, signal }: TextDownload): Promise<string> {
  const { body, total } = await openDownload({ url, allowHttpHosts, signal, from: 0, total: null, etag: null });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BYTES) throw new RuntimeError('download_refused', `${url} is larger than a signature ever is`);
      chunks.push(chunk as Buffer);
    }
  } finally {
    body.destroy();
  }
  if (total !== null && bytes < total) throw new Error(`the connection ended after ${bytes} of ${total} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}
