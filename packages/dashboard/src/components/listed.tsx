import type { ReactNode } from 'react';
import { itemsOf, type ListResult } from '../api/queries.ts';
import { Loaded } from './loaded.tsx';
import { type Column, VirtualRows } from './virtual-rows.tsx';

/** A list of the API as rows: loading, failed, empty, or what there is. */
export function Listed<Item>({
  list,
  what,
  ...rows
}: {
  readonly list: ListResult<Item>;
  /** In words: `rollouts`. */
  readonly what: string;
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  readonly empty: ReactNode;
  readonly onSight?: (inSight: readonly Item[]) => void;
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = { hasMore: hasNextPage && !isFetchingNextPage, load: () => void fetchNextPage() };
  return (
    <Loaded query={list} what={what}>
      {(data) => <VirtualRows label={what} items={itemsOf(data)} more={more} {...rows} />}
    </Loaded>
  );
}
