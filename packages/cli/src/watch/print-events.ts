import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import type { ApiClient } from '../api/api-client.ts';
import type { CommandIo } from '../command-io.ts';
import { renderEvent } from './event-text.ts';
import { followEvents } from './follow-events.ts';

export interface EventsFlags {
  readonly follow?: boolean;
}

/** Prints the events of a path, one a line; with `follow` also what comes, until Ctrl-C. */
export async function printEvents(io: CommandIo, path: string, flags: EventsFlags): Promise<void> {
  const api = await io.api();
  if (!flags.follow) {
    io.answer(await allEvents(api, path), (items) => items.map((event) => `${renderEvent(event)}\n`).join(''));
    return;
  }
  for await (const event of followEvents(api, path, io.context.interrupted)) {
    io.tell(event);
    if (io.format === 'table') io.context.out.write(`${renderEvent(event)}\n`);
  }
}

async function allEvents(api: ApiClient, path: string): Promise<EventView[]> {
  const items: EventView[] = [];
  let after = -1;
  for (let next = 0; next !== after; ) {
    after = next;
    const page = await api.get<EventPage>(path, { after });
    items.push(...page.items);
    next = page.next_after;
  }
  return items;
}
