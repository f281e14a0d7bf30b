import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { RuntimeError } from './runtime-adapter.ts';

const MAX_REDIRECTS = 5;
/** A transfer in which nothing arrives for so long is broken off and tried again. */
const SILENCE_MS = 30_000;

interface DownloadRequest {
  readonly url: string;
  readonly allowHttpHosts: readonly string[];
  readonly signal: AbortSignal;
  /** Bytes that are here already; with `total` and `etag` as the earlier answer gave them. */
  readonly from: number;
  readonly total: number | null;
  readonly etag: string | null;
}

interface DownloadAnswer {
  readonly body: Readable;
  /** The body goes on at `from`; otherwise it is the file from its beginning. */
  readonly resumed: boolean;
  /** Size of the whole file, null when the server doesn't say. */
  readonly total: number | null;
  readonly etag: string | null;
}

/** The server may answer better later: 5xx, 408, 425, 429. */
export class DownloadRefused extends Error {
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super(message);
    this.name = 'DownloadRefused';
    this.retryAfterMs = retryAfterMs;
  }
}

/** What has arrived is no beginning of what the server has now: nothing of it may be kept (field-case 27). */
export class RangeRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RangeRefused';
  }
}

const WORTH_A_RETRY = new Set([408, 425, 429]);
const MEANINGS: Readonly<Record<number, string>> = {
  401: 'it wants credentials',
  403: 'access is forbidden',
  404: 'there is no such file',
  410: 'the file was removed',
};

/**
 * Asks for a file, or for the rest of one, following at most five redirects and checking the scheme at each (A11).
 * @throws RuntimeError `download_refused` for what no repetition cures; DownloadRefused or a network error otherwise
 */
export async function openDownload(wanted: DownloadRequest): Promise<DownloadAnswer> {
  let url = parseUrl(wanted.url);
  for (let redirects = 0; ; redirects++) {
    requireAllowedScheme(url, wanted.allowHttpHosts);
    const response = await ask(url, wanted);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return readAnswer(url, response, wanted);
    response.destroy();
    if (status === 416 && wanted.from > 0) throw new RangeRefused(`${url.host} has no such part of the file`);
    if (![301, 302, 303, 307, 308].includes(status)) throw statusError(url, status, response);
    if (redirects === MAX_REDIRECTS) {
      throw refused(`${wanted.url} redirects more than ${MAX_REDIRECTS} times: give the final address`);
    }
    url = parseUrl(response.headers.location ?? '', url);
  }
}

function ask(url: URL, wanted: DownloadRequest): Promise<IncomingMessage> {
  const headers: Record<string, string> = { 'user-agent': 'hoodcloud-agent', 'accept-encoding': 'identity' };
  if (wanted.from > 0 && wanted.total !== null) {
    headers.range = `bytes=${wanted.from}-`;
    // a weak one doesn't prove the same bytes (RFC 9110 §13.1.5); without one the total and the digest decide
    if (wanted.etag !== null && !wanted.etag.startsWith('W/')) headers['if-range'] = wanted.etag;
  }
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, { headers, signal: wanted.signal, timeout: SILENCE_MS }, resolve);
    request.on('timeout', () => request.destroy(new Error(`${url.host} was silent for ${SILENCE_MS / 1000} s`)));
    request.on('error', (error) => reject(isCertificateError(error) ? badCertificate(url, error) : error));
    request.end();
  });
}

/** A rest is taken only when the server proves that it is one: 206, our offset, the same total (field-case 27). */
function readAnswer(url: URL, response: IncomingMessage, wanted: DownloadRequest): DownloadAnswer {
  const etag = response.headers.etag ?? null;
  if (response.statusCode === 206) {
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers['content-range'] ?? '') ?? [];
    const sameFile = wanted.etag === null || etag === null || etag === wanted.etag;
    if (Number(start) === wanted.from && Number(total) === wanted.total && sameFile) {
      return { body: response, resumed: true, total: wanted.total, etag };
    }
    response.destroy();
    throw new RangeRefused(`${url.host} sent another part of the file than was asked for`);
  }
  const length = response.headers['content-length'];
  return { body: response, resumed: false, total: length === undefined ? null : Number(length), etag };
}

function statusError(url: URL, status: number, response: IncomingMessage): Error {
  const sentence = `${url.href} answered ${status}${MEANINGS[status] ? `: ${MEANINGS[status]}` : ''}`;
  const mayCure = status >= 500 || WORTH_A_RETRY.has(status);
  return mayCure
    ? new DownloadRefused(sentence, retryAfter(response.headers['retry-after']))
    : refused(`${sentence}. Correct the address or the server`);
}

/** Seconds or a date (RFC 9110); milliseconds from now. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function parseUrl(text: string, base?: URL): URL {
  try {
    return new URL(text, base);
  } catch (error) {
    throw new RuntimeError('download_refused', `"${text}" is not an address`, { cause: error });
  }
}

/** @throws RuntimeError `download_refused` for plain http from a host that the agent's configuration doesn't name */
export function requireAllowedScheme(url: URL, allowHttpHosts: readonly string[]): void {
  if (url.protocol === 'https:') return;
  const allowed =
    url.protocol === 'http:' && (allowHttpHosts.includes(url.hostname) || allowHttpHosts.includes(url.host));
  if (allowed) return;
  throw refused(
    `${url.href} is not https: use an https address, or name ${url.hostname} in allow_http_hosts of the agent's configuration`,
  );
}

function isCertificateError(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return /^(CERT_|ERR_TLS_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code);
}

function badCertificate(url: URL, cause: Error): RuntimeError {
  return new RuntimeError(
    'download_refused',
    `the certificate of ${url.host} can't be trusted (${cause.message}): repair it, or give the agent its CA by NODE_EXTRA_CA_CERTS`,
    { cause },
  );
}

function refused(message: string): RuntimeError {
  return new RuntimeError('download_refused', message);
}
