import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/api-client.ts';

const TRY_AGAIN_MS = 1000;

/**
 * After a loss: what is not shown is forgotten, what is shown is read anew, until the control plane has answered for all of
 * it. Only then is what one sees what is, so nothing old is seen as new, not even for a moment.
 * @returns false when it was given up by `signal`
 */
export async function catchUp(client: QueryClient, signal: AbortSignal): Promise<boolean> {
  client.removeQueries({ type: 'inactive' });
  while (!signal.aborted) {
    await client.invalidateQueries();
    if (!signal.aborted && isAnswered(client)) return true;
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
  return false;
}

/** A refusal is an answer too: what was asked for may be gone. */
function isAnswered(client: QueryClient): boolean {
  const shown = client.getQueryCache().findAll({ type: 'active' });
  return shown.every(
    ({ state: { error } }) => error === null || (error instanceof ApiError && isRefusal(error.status)),
  );
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}
