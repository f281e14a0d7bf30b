import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import parsePrometheusTextFormat from 'parse-prometheus-text-format';

const MAX_BYTES = 8 * 1024 * 1024;

export interface MetricSample {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** What was read, or why nothing was. */
export interface Scrape {
  readonly samples: readonly MetricSample[];
  /** One sentence; empty when it was read. */
  readonly error: string;
}

/** Reads the node's Prometheus endpoint and keeps the metrics of these names (D0a). Trouble is a value. */
export async function scrapeMetrics(url: string, names: readonly string[], timeoutMs = 3_000): Promise<Scrape> {
  if (names.length === 0) return { samples: [], error: '' };
  try {
    return { samples: parseSamples(await readPage(url, AbortSignal.timeout(timeoutMs)), names), error: '' };
  } catch (error) {
    if (error instanceof PageRefused) return { samples: [], error: `${url} answered ${error.message}` };
    return { samples: [], error: `${url} can't be read: ${error instanceof Error ? error.message : error}` };
  }
}

/** The endpoint answered, but not with a page that is taken. */
class PageRefused extends Error {}

/**
 * By node:http, not by fetch: that one brings a parser of its own, compiled when the agent first uses it, which stays in
 * its memory. A connection each time: one that is kept may be closed by the node just when it is asked again.
 */
async function readPage(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await ask(url, signal);
    if (response.statusCode === 200) return await text(atMost(MAX_BYTES, response));
    response.destroy();
    throw new PageRefused(String(response.statusCode));
  } catch (error) {
    throw signal.aborted ? signal.reason : error; // the reason says that it was the time-out
  }
}

function ask(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    send(url, { agent: false, signal }, resolve).on('error', reject).end();
  });
}

/** Ends the body when it is left. */
async function* atMost(maxBytes: number, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new PageRefused(`more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/**
 * The samples of these names in a page of the Prometheus text format; values that are no numbers are left out, since
 * an absent metric is never true (D4b).
 */
export function parseSamples(page: string, names: readonly string[]): MetricSample[] {
  const wanted = new Set(names);
  // a page of some nodes has thousands of lines; the parser sees those that matter
  const lines = page.split('\n').filter((line) => wanted.has(/^[a-zA-Z_:][\w:]*/.exec(line)?.[0] ?? ''));
  return parsePrometheusTextFormat(`${lines.join('\n')}\n`).flatMap(({ name, metrics }) =>
    metrics
      .map(({ labels = {}, value }) => ({ name, labels, value: numberOf(value) }))
      .filter((sample) => !Number.isNaN(sample.value)),
  );
}

function numberOf(value: string | undefined): number {
  if (value === '+Inf' || value === 'Inf') return Number.POSITIVE_INFINITY;
  return value === '-Inf' ? Number.NEGATIVE_INFINITY : Number(value ?? Number.NaN);
}
