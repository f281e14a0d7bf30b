import type { EventView } from '@hoodcloud/contracts/http/events';
import { eventText } from '@hoodcloud/contracts/http/view-text';
import { renderClock } from '@hoodcloud/domain/duration-text';

const MARKS = { info: ' ', warning: '!', critical: '‼' } as const;

/** One event as one line: clock (UTC), mark of severity, whom it is about, what happened, why. */
export function renderEvent(event: EventView): string {
  const subject = event.node_name ?? event.subject_type;
  const why = event.reason?.sentence;
  const what = [eventText(event), why].filter((part) => part).join(' · ');
  return `${renderClock(event.occurred_at)} ${MARKS[event.severity]} ${subject.padEnd(12)} ${what}`;
}
