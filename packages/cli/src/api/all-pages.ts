import type { Page } from '@hoodcloud/contracts/http/common';
import type { ApiClient, Query } from './api-client.ts';

/** Reads every page of a list. */
export async function allPages<Item>(api: ApiClient, path: string, query: Query = {}): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await api.get<Page<Item>>(path, { ...query, cursor, limit: 500 });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}
