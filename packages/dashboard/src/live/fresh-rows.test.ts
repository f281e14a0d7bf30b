import type { Page } from '@hoodcloud/contracts/http/common';
import { expect, it } from 'vitest';
import { withRows } from './fresh-rows.ts';

interface Row {
  readonly id: string;
  readonly status: string;
}
const page = (...items: Row[]): Page<Row> => ({ items, next_cursor: null });
const list = { pages: [page({ id: 'a', status: 'old' }), page({ id: 'b', status: 'old' })], pageParams: [null, 'x'] };
const idOf = ({ id }: Row) => id;

it('replaces rows where they stand and leaves the other pages the objects they were', () => {
  const next = withRows(list, [{ id: 'b', status: 'new' }], idOf);
  expect(next.pages[1]?.items).toEqual([{ id: 'b', status: 'new' }]);
  expect(next.pages[0]).toBe(list.pages[0]);
});

it('a row that is not in the list changes nothing', () => {
  expect(withRows(list, [{ id: 'c', status: 'new' }], idOf)).toBe(list);
});
