import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import { expect, it } from 'vitest';
import { TIMELINE_LENGTH, withNews } from './timelines.ts';

const event = (seq: number) => ({ seq }) as EventView;
const page = (...seqs: number[]): EventPage => ({ items: seqs.map(event), next_after: seqs.at(-1) ?? 0 });

it('takes each event once, whether the stream or the list brought it first', () => {
  expect(withNews(page(1, 2), [event(2), event(3)])).toEqual(page(1, 2, 3));
});

it('keeps its length over hours of events', () => {
  const long = Array.from({ length: 1000 }, (_, index) => event(index + 1)).reduce(
    (timeline, one) => withNews(timeline, [one]),
    page(),
  );
  expect(long.items).toHaveLength(TIMELINE_LENGTH);
  expect(long.items.at(-1)?.seq).toBe(1000);
});

it('is the same object when nothing is new, so that nothing is drawn', () => {
  const timeline = page(5);
  expect(withNews(timeline, [event(4)])).toBe(timeline);
});
