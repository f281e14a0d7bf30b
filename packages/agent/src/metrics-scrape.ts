import parsePrometheusTextFormat from 'parse-prometheus-text-format';

const TIMEOUT_MS = 3_000;
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
export async function scrapeMetrics(url: string, names: readonly string[]): Promise<Scrape> {
  if (names.length === 0) return { samples: [], error: '' };
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    if (!response.ok) return { samples: [], error: `${url} answered ${response.status}` };
    const size = Number(response.headers.get('content-length') ?? 0);
    if (size > MAX_BYTES) return { samples: [], error: `${url} answered ${size} bytes, ${MAX_BYTES} are the most` };
    return { samples: parseSamples(await response.text(), names), error: '' };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
    return { samples: [], error: `${url} can't be read: ${cause || (error instanceof Error ? error.message : error)}` };
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
