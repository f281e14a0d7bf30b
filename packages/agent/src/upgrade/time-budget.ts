import { AgentError } from '../agent-error.ts';

/** What still doesn't answer so long after its budget is given up on: a system call may hang for ever (dead NFS). */
const GRACE_MS = 10_000;

/**
 * Runs `work` within a budget: its signal aborts when the budget ends, and what it rejects with then is the result, so
 * that an adapter's own words (`stop_overrun`) reach the operator.
 * @param budgetMs null for no limit
 * @throws AgentError `action_timeout` when the work only says that it was aborted, or doesn't even say that
 */
export async function withinBudget<T>(
  name: string,
  budgetMs: number | null,
  work: (signal: AbortSignal) => Promise<T>,
  graceMs = GRACE_MS,
): Promise<T> {
  const controller = new AbortController();
  if (budgetMs === null) return work(controller.signal);
  const late = new AgentError('action_timeout', `${name} didn't finish within its ${budgetMs} ms`);
  const timers: NodeJS.Timeout[] = [];
  const givenUp = new Promise<never>((_, reject) => {
    timers.push(setTimeout(() => controller.abort(late), budgetMs));
    timers.push(setTimeout(() => reject(late), budgetMs + graceMs));
  });
  try {
    return await Promise.race([work(controller.signal), givenUp]);
  } catch (error) {
    const onlyAborted = error instanceof Error && error.name === 'AbortError';
    throw controller.signal.aborted && onlyAborted ? late : error;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
