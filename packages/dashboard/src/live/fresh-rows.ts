import type { Page } from '@hoodcloud/contracts/http/common';
import { type InfiniteData, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import type { Query } from '../api/api-client.ts';
import { useSession } from '../session/session.tsx';
import { useEvents } from './live.tsx';
import { Pace } from './pace.ts';

/** A row that moves is looked at so often whatever happens: progress within a step is no event. */
const MOVING_MS = 500;
const ROWS = { gatherMs: 100, restMs: 150, restTimes: 2 };
/** The API takes no more ids at once; a screen shows fewer. */
const MOST_IDS = 100;

type Pages<Item> = InfiniteData<Page<Item>, unknown>;

/** The list with some of its rows replaced; the same object when none of them is in it. */
export function withRows<Item>(pages: Pages<Item>, rows: readonly Item[], idOf: (item: Item) => string): Pages<Item> {
  const fresh = new Map(rows.map((row) => [idOf(row), row]));
  let found = false;
  const next = pages.pages.map((page) => {
    if (!page.items.some((item) => fresh.has(idOf(item)))) return page;
    found = true;
    return { ...page, items: page.items.map((item) => fresh.get(idOf(item)) ?? item) };
  });
  return found ? { ...pages, pages: next } : pages;
}

export interface FreshList<Item> {
  /** Key of the list's query, and where its rows are read by `node_id`. */
  readonly queryKey: QueryKey;
  readonly path: string;
  readonly query?: Query;
  readonly idOf: (item: Item) => string;
  /** Whether the row changes without events, so that it is looked at twice a second while it is in sight. */
  readonly isMoving: (item: Item) => boolean;
}

/**
 * Keeps the rows in sight of a list of nodes fresh, whatever its length: a row that an event is about is read alone, at once
 * when it is in sight, otherwise when it comes into sight.
 * @returns what the list calls with the rows in sight
 */
export function useFreshRows<Item>(list: FreshList<Item>): (inSight: readonly Item[]) => void {
  const { api } = useSession();
  const client = useQueryClient();
  const latest = useRef(list);
  latest.current = list;
  const dirty = useRef(new Set<string>());
  const sight = useRef<readonly Item[]>([]);
  const pace = useRef<Pace | null>(null);

  useEffect(() => {
    const read = async () => {
      const { queryKey, path, query, idOf } = latest.current;
      const ids = sight.current.map(idOf).filter((id) => dirty.current.has(id));
      if (ids.length === 0) return;
      const asked = ids.slice(0, MOST_IDS);
      for (const id of asked) dirty.current.delete(id);
      const rows = api.get<Page<Item>>(path, { ...query, node_id: asked.join(','), limit: MOST_IDS });
      const { items } = await rows.catch((error: unknown) => {
        for (const id of asked) dirty.current.add(id); // for the next look
        throw error;
      });
      client.setQueryData<Pages<Item>>(queryKey, (pages) => pages && withRows(pages, items, idOf));
    };
    const paced = new Pace(read, ROWS);
    pace.current = paced;
    const moving = setInterval(() => {
      if (document.hidden) return;
      const { idOf, isMoving } = latest.current;
      for (const item of sight.current) if (isMoving(item)) dirty.current.add(idOf(item));
      if (dirty.current.size > 0) paced.ask();
    }, MOVING_MS);
    return () => {
      clearInterval(moving);
      paced.stop();
    };
  }, [api, client]);

  useEvents(({ node_id: id }) => {
    if (id === null) return;
    dirty.current.add(id);
    const { idOf } = latest.current;
    if (sight.current.some((item) => idOf(item) === id)) pace.current?.ask();
  });

  return useCallback((inSight: readonly Item[]) => {
    sight.current = inSight;
    const { idOf } = latest.current;
    if (inSight.some((item) => dirty.current.has(idOf(item)))) pace.current?.ask();
  }, []);
}
