/** Agents come back at this rate, for a connect costs the gateway 2-3 ms of CPU with TLS (B6): 10,000 agents in 60 s. */
const RECONNECTS_PER_SECOND = 10_000 / 60;
/** A small fleet is back at once, though never in one instant. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 10 * 60_000;

/** Within how many milliseconds a lost agent picks a random moment to reconnect; grows with the number of agents (B6). */
export function reconnectWindowMs(agents: number): number {
  const window = Math.ceil((agents / RECONNECTS_PER_SECOND) * 1000);
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, window));
}
