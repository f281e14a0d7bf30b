import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';

/** A timeline shows so many of the newest events; older ones are on the page of all events. */
export const TIMELINE_LENGTH = 200;

/** A timeline with what came since, each event once, the oldest left out when it gets too long. */
export function withNews(page: EventPage, news: readonly EventView[]): EventPage {
  const last = page.items.at(-1)?.seq ?? 0;
  const newer = news.filter(({ seq }) => seq > last);
  const newest = newer.at(-1);
  if (newest === undefined) return page;
  return { ...page, items: [...page.items, ...newer].slice(-TIMELINE_LENGTH), next_after: newest.seq };
}
