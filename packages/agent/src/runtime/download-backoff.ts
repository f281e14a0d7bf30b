import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadRefused } from './download-request.ts';

/** Milliseconds. A try that brought no new byte counts; the waiting is doubled up to the cap, with jitter. */
export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
  readonly fruitlessTries: number;
}

export const DEFAULT_BACKOFF: Backoff = { firstMs: 500, capMs: 30_000, fruitlessTries: 8 };

/**
 * Waits before the next try: capped exponential with full jitter above its half (field-case 22); a server's Retry-After
 * is honoured when longer (field-case 36).
 * @returns false when the signal ended the waiting
 */
export async function waitBeforeTry(
  fruitless: number,
  { capMs, firstMs }: Backoff,
  error: Error,
  signal: AbortSignal,
): Promise<boolean> {
  const ceiling = Math.min(capMs, firstMs * 2 ** (fruitless - 1));
  const own = ceiling / 2 + Math.random() * (ceiling / 2);
  const asked = error instanceof DownloadRefused ? (error.retryAfterMs ?? 0) : 0;
  try {
    await sleep(Math.max(own, asked), undefined, { signal });
    return true;
  } catch {
    return false; // the only way a timer fails is the signal
  }
}

/** Node calls a body that ends before its time just "aborted". */
export function troubleOf(error: Error): string {
  return error.message === 'aborted' ? 'the server broke the connection off' : error.message;
}
