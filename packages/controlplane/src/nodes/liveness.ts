/** A node without a heartbeat for so long is offline; the server's receive time decides, not the host's clock (B6). */
export const OFFLINE_AFTER_MS = 30_000;

/** Whether a heartbeat came lately; a stream that is being made again does not make a node offline. */
export function isOnline(lastHeartbeatAt: Date | null, now: Date): boolean {
  return lastHeartbeatAt !== null && now.getTime() - lastHeartbeatAt.getTime() < OFFLINE_AFTER_MS;
}
