import { EVENT_KINDS, NOTIFICATION_EVENTS } from '@hoodcloud/contracts/events/event-kinds';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { describe, expect, it } from 'vitest';
import { wants } from './channel-filter.ts';
import { pausedEvent } from './testing/paused-event.ts';

const paused = pausedEvent({});

describe('without a filter', () => {
  it.each(EVENT_KINDS)(
    '%s is told as the specification says ("Notification Events", waiting for approval, incidents)',
    (kind) => {
      const told: readonly string[] = NOTIFICATION_EVENTS;
      expect(wants({ min_severity: 'info' }, { ...paused, kind, severity: 'critical' })).toBe(told.includes(kind));
    },
  );
});

it('tells only of critical incidents unless incidents are asked for', () => {
  const opened = { ...paused, kind: 'incident_opened' } as const;
  expect(wants({ min_severity: 'info' }, opened)).toBe(false);
  expect(wants({ min_severity: 'info', events: ['incident_opened'] }, opened)).toBe(true);
});

it('tells every kind to a channel that wants all', () => {
  for (const kind of EVENT_KINDS)
    expect(wants({ events: 'all', min_severity: 'info' }, { ...paused, kind })).toBe(true);
});

it('tells only of the chains that are named, and never of an event without a chain then', () => {
  const filter = { events: 'all', min_severity: 'info', chains: ['testchain'] } as const;
  expect(wants({ ...filter, chains: ['testchain'] }, paused)).toBe(true);
  expect(wants({ ...filter, chains: ['other'] }, paused)).toBe(false);
  expect(wants({ ...filter, chains: ['testchain'] }, { ...paused, chain_profile_id: null })).toBe(false);
});

it('tells what matters at least as much as is wanted', () => {
  const told = (severity: EventView['severity']) =>
    (['info', 'warning', 'critical'] as const).map((min_severity) =>
      wants({ events: 'all', min_severity }, { ...paused, severity }),
    );
  expect(told('info')).toEqual([true, false, false]);
  expect(told('warning')).toEqual([true, true, false]);
  expect(told('critical')).toEqual([true, true, true]);
});
