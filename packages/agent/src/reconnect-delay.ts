/** Milliseconds; the first waiting after a connection that failed, and the longest. */
const FIRST_MS = 1_000;
const CAP_MS = 60_000;

/**
 * How long to wait before the gateway is dialled again: a random moment within the window (full jitter), so that ten
 * thousand agents that lost one gateway don't come back in one second (B6). The window is for what a gateway has said in
 * the connection that ended. Who found nobody there was spread by it before: it tries again after a backoff, else each
 * one that came while a gateway restarted would wait a whole window more.
 * @param failures connections in a row that never became a session; 0 after a session that was lost
 * @param windowMs what the gateway asked for in the connection that ended; 0 when it said nothing
 * @param random in [0, 1)
 */
export function reconnectDelayMs(failures: number, windowMs: number, random: number): number {
  const backoff = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return random * Math.max(windowMs, failures === 0 ? FIRST_MS : backoff);
}
