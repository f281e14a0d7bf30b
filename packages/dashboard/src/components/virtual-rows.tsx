import { Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';

export interface Column<Item> {
  readonly name: string;
  /** A track of a CSS grid, e.g. `2fr`. */
  readonly width: string;
  readonly cell: (item: Item) => ReactNode;
  /** Takes a line of its own on a phone. */
  readonly wide?: boolean;
}

const ESTIMATED_ROW_PX = 48;

/** A table of any length: only the rows in sight are in the document, and more are asked for when the end comes near. */
export function VirtualRows<Item>({
  label,
  columns,
  items,
  idOf,
  empty,
  more,
  onSight,
}: {
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** What is said when there is none. */
  readonly empty: ReactNode;
  readonly more?: { readonly hasMore: boolean; readonly load: () => void };
  /** Told which items are in the document, whenever they change. */
  readonly onSight?: ((inSight: readonly Item[]) => void) | undefined;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ESTIMATED_ROW_PX,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : idOf(item);
    },
    overscan: 8,
  });
  const inSight = rows.getVirtualItems();
  const last = inSight.at(-1)?.index ?? 0;
  const nearEnd = last >= items.length - 20;
  const { hasMore = false, load } = more ?? {};
  useEffect(() => {
    if (nearEnd && hasMore) load?.();
  }, [nearEnd, hasMore, load]);
  const first = inSight[0]?.index ?? 0;
  useEffect(() => {
    onSight?.(items.slice(first, last + 1));
  }, [onSight, items, first, last]);
  if (items.length === 0) {
    return (
      <Text className="surface" p="lg" c="dimmed">
        {empty}
      </Text>
    );
  }
  const style = { '--columns': columns.map(({ width }) => `minmax(0, ${width})`).join(' ') } as React.CSSProperties;
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table element can't be placed where they are in sight
    <div className="surface rows" role="table" aria-label={label} aria-rowcount={items.length + 1} style={style}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup">
        {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above */}
        <div className="rows-head" role="row">
          {columns.map(({ name }) => (
            // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
            <div key={name} role="columnheader">
              {name}
            </div>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <div className="rows-scroll" role="rowgroup" ref={scroll} tabIndex={0} aria-label={`${label}, rows`}>
        <div className="rows-space" role="presentation" style={{ height: rows.getTotalSize() }}>
          {inSight.map(({ index, key, start }) => {
            const item = items[index];
            if (item === undefined) return null;
            return (
              // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
              <div
                key={key}
                ref={rows.measureElement}
                className="rows-row"
                role="row"
                data-index={index}
                aria-rowindex={index + 2}
                style={{ transform: `translateY(${start}px)` }}
              >
                {columns.map((column) => (
                  <Cell key={column.name} column={column} item={item} />
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** On a phone each cell says which column it is of, and one that holds nothing is left out. */
function Cell<Item>({ column, item }: { readonly column: Column<Item>; readonly item: Item }) {
  const content = column.cell(item);
  const empty = content === null || content === '';
  const classes = [column.wide && 'wide', empty && 'empty'].filter(Boolean).join(' ');
  return (
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div role="cell" className={classes}>
      <span className="label" aria-hidden>
        {column.name}
      </span>
      {content}
    </div>
  );
}
