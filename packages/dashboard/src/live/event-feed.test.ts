import { expect, it, vi } from 'vitest';
import { followEvents, type LiveState } from './event-feed.ts';

const SOON = { timeout: 30_000 };

/** An API whose streams a test scripts: each entry is what one connection brings before it breaks. */
function scripted(connections: readonly (readonly string[])[]) {
  const asked: string[] = [];
  let next = 0;
  return {
    asked,
    get: async <Answer>() => ({ items: [], next_after: 7 }) as Answer,
    async *events(
      _: string,
      { lastId, signal, onChunk }: { lastId: string; signal: AbortSignal; onChunk: () => void },
    ) {
      asked.push(lastId);
      const brings = connections[next];
      next += 1;
      onChunk();
      for (const id of brings ?? []) yield { id, event: 'x', data: `{"seq":${id}}` };
      if (brings) throw new Error('the connection broke');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
}

it('begins at the newest event, and comes back after the last one that it had', async () => {
  const api = scripted([['8', '9']]);
  const states: LiveState['kind'][] = [];
  const seen: number[] = [];
  const stop = new AbortController();
  const following = followEvents(
    api,
    { onState: ({ kind }) => states.push(kind), onEvent: ({ seq }) => seen.push(seq) },
    stop.signal,
  );
  await vi.waitFor(() => expect(api.asked).toEqual(['7', '9']), SOON);
  stop.abort();
  await following;
  expect(seen).toEqual([8, 9]);
  expect(states).toEqual(['live', 'lost', 'live']);
});
