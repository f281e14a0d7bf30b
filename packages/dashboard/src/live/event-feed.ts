import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import type { ApiClient } from '../api/api-client.ts';

/** The server sends a comment every 15 s; a stream silent for longer than two of them is dead, whatever TCP says. */
const SILENT_MS = 40_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

/** Whether what is shown is what is; `since` is when news stopped coming, epoch milliseconds. */
export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly since: number };

export interface FeedListener {
  readonly onState: (state: LiveState) => void;
  readonly onEvent: (event: EventView) => void;
}

/**
 * Follows all events from now on until `signal` aborts. A lost stream is made again after the last event that came
 * (`Last-Event-ID`), so none is missed.
 */
export async function followEvents(
  api: Pick<ApiClient, 'get' | 'events'>,
  { onState, onEvent }: FeedListener,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | null = null;
  let heardAt = Date.now();
  let retryMs = FIRST_RETRY_MS;
  const connect = async () => {
    lastId ??= String((await api.get<EventPage>(PATHS.events, { newest: true, limit: 1 }, signal)).next_after);
    const attempt = new AbortController();
    let silence = setTimeout(() => attempt.abort(), SILENT_MS);
    const onChunk = () => {
      clearTimeout(silence);
      silence = setTimeout(() => attempt.abort(), SILENT_MS);
      heardAt = Date.now();
      retryMs = FIRST_RETRY_MS;
      onState({ kind: 'live' });
    };
    const either = AbortSignal.any([signal, attempt.signal]);
    try {
      for await (const { id, data } of api.events(PATHS.events, { lastId, signal: either, onChunk })) {
        lastId = id ?? lastId;
        onEvent(JSON.parse(data) as EventView);
      }
    } finally {
      clearTimeout(silence);
    }
  };
  while (!signal.aborted) {
    await connect().catch(() => undefined); // whatever ended it, what follows is the same: say so and try again
    if (signal.aborted) return;
    onState({ kind: 'lost', since: heardAt });
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
