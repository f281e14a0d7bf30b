import { setTimeout as sleep } from 'node:timers/promises';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { ApiClient } from '../api/api-client.ts';
import { ApiError } from '../api/problem.ts';

const AGAIN_AFTER_MS = 1000;

/**
 * Every event of a path from the first on, each once, until `signal` aborts. A lost connection is taken up after the
 * last event seen.
 * @throws ApiError when the server refuses
 */
export async function* followEvents(api: ApiClient, path: string, signal: AbortSignal): AsyncGenerator<EventView> {
  let lastId: string | null = '0';
  while (!signal.aborted) {
    try {
      for await (const { id, data } of api.events(path, lastId, signal)) {
        lastId = id ?? lastId;
        yield JSON.parse(data) as EventView;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) throw error;
      // The stream broke or the server restarts: what it missed is asked for again below.
    }
    await sleep(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined); // ends early with the watch
  }
}
