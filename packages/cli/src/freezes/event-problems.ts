import { isTimeZone } from '@hoodcloud/domain/time-zone';
import ICAL from 'ical.js';
import type { CalendarLines, ContentLine, EventLines } from './calendar-lines.ts';

const DATE_OR_TIME = /^(\d{4})(\d{2})(\d{2})(?:T([01]\d|2[0-3])([0-5]\d)([0-5]\d|60)Z?)?$/;
/** Rules by the hour or faster would be a freeze without end, in many pieces. */
const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];

/**
 * What is wrong with an event, each with its line: nothing is guessed over.
 * @param zone for times that name none; null: nobody named one
 */
export function eventProblems(event: EventLines, { zones }: CalendarLines, zone: string | null): string[] {
  const one = (name: string) => event.lines.find((line) => line.name === name);
  const problems = event.lines.flatMap((line) => lineProblems(line, zones, zone));
  const uid = one('UID');
  const start = one('DTSTART');
  if (uid === undefined) problems.push(`line ${event.number}: the event has no UID, so it would not be known again`);
  if (start === undefined) problems.push(`line ${event.number}: the event has no DTSTART`);
  else if (!isDate(start) && one('DTEND') === undefined && one('DURATION') === undefined) {
    problems.push(`line ${event.number}: the event has no end (DTEND or DURATION)`);
  }
  return problems;
}

/** Whether a line names whole days. */
export function isDate({ value }: ContentLine): boolean {
  return /^\d{8}$/.test(value);
}

function lineProblems(line: ContentLine, zones: ReadonlySet<string>, zone: string | null): string[] {
  const at = `line ${line.number}:`;
  if (line.name === 'RRULE') return ruleProblems(line, at);
  if (line.name === 'DURATION')
    return /^\+?P(?=.)[\dWDTHMS]+$/.test(line.value) ? [] : [`${at} "${line.value}" is no length`];
  if (!['DTSTART', 'DTEND', 'RECURRENCE-ID', 'EXDATE', 'RDATE'].includes(line.name)) return [];
  if (line.params.get('VALUE') === 'PERIOD') return [`${at} ${line.name} by PERIOD is not read; write it as an event`];
  const bad = line.value.split(',').filter((value) => !isRealDate(value));
  if (bad.length > 0) return bad.map((value) => `${at} ${line.name} "${value}" is no date and no time`);
  const named = line.params.get('TZID');
  if (named !== undefined && !isTimeZone(named) && !zones.has(named)) {
    return [`${at} time zone "${named}" is not known, and the calendar has no VTIMEZONE for it`];
  }
  if (named === undefined && !line.value.endsWith('Z') && zone === null) {
    return [`${at} ${line.name} names no time zone, and neither does the calendar: give --time-zone`];
  }
  return [];
}

function ruleProblems({ value }: ContentLine, at: string): string[] {
  const frequency = /(?:^|;)FREQ=([A-Z]+)/i.exec(value)?.[1]?.toUpperCase() ?? '';
  if (!FREQUENCIES.includes(frequency)) return [`${at} a rule must repeat by day, week, month or year: "${value}"`];
  try {
    ICAL.Recur.fromString(value);
    return [];
  } catch (error) {
    return [`${at} "${value}" is no rule: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function isRealDate(text: string): boolean {
  const [, year, month, day] = DATE_OR_TIME.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}
