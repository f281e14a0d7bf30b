import { isTimeZone } from '@hoodcloud/domain/time-zone';
import { momentOf } from '@hoodcloud/domain/zone-time';
import ICAL from 'ical.js';

/** Zones of the IANA database by their rules of today, whatever the calendar's own VTIMEZONE says of them. */
class IanaZone extends ICAL.Timezone {
  override utcOffset(time: ICAL.Time): number {
    const { year, month, day, hour, minute, second } = time;
    const clock = Date.UTC(year, month - 1, day, hour, minute, second);
    return Math.round((clock - momentOf(new Date(clock).toISOString().slice(0, 19), this.tzid)) / 1000);
  }
}

/** The events of a file of one or more calendars. @throws Error of the parser */
export function calendarEvents(text: string): WholeEvent[] {
  const parsed: unknown[] = ICAL.parse(text.replace(/^\uFEFF/, ''));
  const calendars = Array.isArray(parsed[0]) ? parsed : [parsed];
  return eventsOf(calendars.map((one) => withKnownZones(new ICAL.Component(one as unknown[]))));
}

function withKnownZones(calendar: ICAL.Component): ICAL.Component {
  const own = calendar.getTimeZoneByID.bind(calendar);
  calendar.getTimeZoneByID = (tzid) => (isTimeZone(tzid) ? new IanaZone({ tzid }) : own(tzid));
  return calendar;
}

/** An event, and its times that were changed or cancelled one by one. */
export interface WholeEvent {
  readonly master: ICAL.Component;
  readonly changed: readonly ICAL.Component[];
}

/** Puts together what has one UID; of two that say the same, the one of the highest SEQUENCE counts. */
function eventsOf(calendars: readonly ICAL.Component[]): WholeEvent[] {
  const byUid = new Map<string, ICAL.Component[]>();
  for (const event of calendars.flatMap((one) => one.getAllSubcomponents('vevent'))) {
    const uid = String(event.getFirstPropertyValue('uid'));
    byUid.set(uid, [...(byUid.get(uid) ?? []), event]);
  }
  const sequence = (event: ICAL.Component) => Number(event.getFirstPropertyValue('sequence') ?? 0);
  return [...byUid.values()].flatMap((events) => {
    const ordered = events.toSorted((one, other) => sequence(one) - sequence(other));
    const changed = ordered.filter((event) => event.hasProperty('recurrence-id'));
    const master = ordered.findLast((event) => !event.hasProperty('recurrence-id'));
    // Changed times whose event the calendar does not have stand for themselves.
    return master ? [{ master, changed }] : changed.map((event) => ({ master: event, changed: [] }));
  });
}
