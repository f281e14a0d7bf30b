import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
import { TOPICS } from '../api/queries.ts';
import { useSession } from '../session/session.tsx';
import { catchUp } from './catch-up.ts';
import { followEvents, type LiveState } from './event-feed.ts';
import { Pace } from './pace.ts';
import { isLongList, staleQueries } from './stale-queries.ts';
import { withNews } from './timelines.ts';

/** Timelines are drawn anew once in this time, however many events come. */
const DRAW_MS = 100;
/** What is counted over many nodes costs the server most. */
const COUNTED = { gatherMs: 250, restMs: 750, restTimes: 4 };

type Listener = (event: EventView) => void;
interface LiveParts {
  readonly state: LiveState;
  /** @returns how to stop listening */
  readonly onEvent: (listener: Listener) => () => void;
}
const LiveContext = createContext<LiveParts>({ state: { kind: 'connecting' }, onEvent: () => () => undefined });

/** Whether what is shown is what is. */
export function useLive(): LiveState {
  return use(LiveContext).state;
}

/** Calls `listener` for each event from now on. */
export function useEvents(listener: Listener): void {
  const { onEvent } = use(LiveContext);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onEvent((event) => latest.current(event)), [onEvent]);
}

/** Follows the events of the control plane and asks anew for what they make stale; everything, after a loss. */
export function Live({ children }: { readonly children: ReactNode }) {
  const { api } = useSession();
  const client = useQueryClient();
  const [state, setState] = useState<LiveState>({ kind: 'connecting' });
  const listeners = useRef(new Set<Listener>());
  useEffect(() => {
    const stop = new AbortController();
    const news = new News(client);
    let wasLost = false;
    let catching: AbortController | null = null;
    const backAgain = async (attempt: AbortController) => {
      if (!(await catchUp(client, AbortSignal.any([attempt.signal, stop.signal])))) return;
      wasLost = false;
      catching = null;
      setState({ kind: 'live' });
    };
    const onState = (next: LiveState) => {
      if (next.kind === 'lost') {
        catching?.abort();
        catching = null;
        wasLost = true;
        setState(next);
      } else if (!wasLost) {
        setState((now) => (now.kind === next.kind ? now : next));
      } else if (catching === null) {
        catching = new AbortController();
        void backAgain(catching);
      }
    };
    const onEvent = (event: EventView) => {
      news.add(event);
      for (const listener of listeners.current) listener(event);
    };
    void followEvents(api, { onState, onEvent }, stop.signal);
    return () => {
      stop.abort();
      news.stop();
    };
  }, [api, client]);
  const parts = useMemo<LiveParts>(
    () => ({
      state,
      onEvent: (listener) => {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [state],
  );
  return <LiveContext value={parts}>{children}</LiveContext>;
}

/** What events bring to the queries: timelines take them in, counted things are asked for again. */
class News {
  readonly #client: QueryClient;
  #events: EventView[] = [];
  readonly #stale = new Map<string, readonly string[]>();
  readonly #draw = new Pace(async () => this.#intoTimelines(), { gatherMs: DRAW_MS, restMs: 0, restTimes: 1 });
  readonly #count = new Pace(() => this.#askAgain(), COUNTED);

  constructor(client: QueryClient) {
    this.#client = client;
  }

  add(event: EventView): void {
    this.#events.push(event);
    this.#draw.ask();
    for (const key of staleQueries(event)) this.#stale.set(key.join('/'), key);
    if (this.#stale.size > 0) this.#count.ask();
  }

  stop(): void {
    this.#draw.stop();
    this.#count.stop();
  }

  #intoTimelines(): void {
    const events = this.#events;
    this.#events = [];
    for (const [key] of this.#client.getQueriesData<EventPage>({ queryKey: [TOPICS.events] })) {
      const about = events.filter(({ rollout_id, node_id }) => rollout_id === key[1] || node_id === key[1]);
      if (about.length > 0) this.#client.setQueryData<EventPage>(key, (page) => page && withNews(page, about));
    }
  }

  async #askAgain(): Promise<void> {
    const keys = [...this.#stale.values()];
    this.#stale.clear();
    const predicate = ({ state }: { state: { data: unknown } }) => !isLongList(state.data);
    await Promise.all(keys.map((queryKey) => this.#client.invalidateQueries({ queryKey, predicate })));
  }
}
