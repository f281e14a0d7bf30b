/** One content line of iCalendar, unfolded (RFC 5545, 3.1). */
export interface ContentLine {
  /** Of its first line in the file, counted from 1. */
  readonly number: number;
  /** Upper case. */
  readonly name: string;
  readonly params: ReadonlyMap<string, string>;
  readonly value: string;
}

/** A VEVENT as it stands in the file. */
export interface EventLines {
  /** Of `BEGIN:VEVENT`. */
  readonly number: number;
  readonly lines: readonly ContentLine[];
}

export interface CalendarLines {
  readonly events: readonly EventLines[];
  /** TZID of each VTIMEZONE. */
  readonly zones: ReadonlySet<string>;
  /** X-WR-TIMEZONE: the zone for times that name none. */
  readonly zone: string | null;
  /** `line 7: …`; what is wrong with the file as text. */
  readonly problems: readonly string[];
}

const CONTENT = /^([A-Za-z0-9-]+)((?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:,])*(?:,(?:"[^"]*"|[^";:,])*)*)*):(.*)$/s;

/** Reads the lines of a calendar, what nests in what, and where each event stands; meanings are not looked at. */
export function calendarLines(text: string): CalendarLines {
  const problems: string[] = [];
  const lines = unfold(text).flatMap(({ number, content }): ContentLine[] => {
    const [, name = '', params = '', value = ''] = CONTENT.exec(content) ?? [];
    if (name !== '') return [{ number, name: name.toUpperCase(), params: paramsOf(params), value }];
    problems.push(`line ${number}: "${content.slice(0, 40)}" is no line of iCalendar: it has no "NAME:value"`);
    return [];
  });
  if (lines[0]?.name !== 'BEGIN' || lines[0].value.toUpperCase() !== 'VCALENDAR') {
    problems.unshift('line 1: it does not begin with BEGIN:VCALENDAR');
  }
  const events: { number: number; lines: ContentLine[] }[] = [];
  const open: ContentLine[] = [];
  for (const line of lines) {
    const within = open.at(-1)?.value.toUpperCase();
    if (line.name === 'BEGIN') {
      open.push(line);
      if (line.value.toUpperCase() === 'VEVENT') events.push({ number: line.number, lines: [] });
    } else if (line.name !== 'END') {
      if (within === 'VEVENT') events.at(-1)?.lines.push(line);
    } else if (within === line.value.toUpperCase()) open.pop();
    else problems.push(`line ${line.number}: END:${line.value} ends nothing that is open`);
  }
  for (const { number, value } of open) problems.push(`line ${number}: BEGIN:${value} has no end: the file is cut off`);
  const saidBy = (name: string) => lines.filter((line) => line.name === name).map(({ value }) => value);
  return { events, zones: new Set(saidBy('TZID')), zone: saidBy('X-WR-TIMEZONE')[0] ?? null, problems };
}

function unfold(text: string): { number: number; content: string }[] {
  const whole: { number: number; content: string }[] = [];
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const last = whole.at(-1);
    if (/^[ \t]/.test(raw) && last !== undefined) last.content += raw.slice(1);
    else if (raw !== '') whole.push({ number: index + 1, content: raw });
  }
  return whole;
}

function paramsOf(text: string): Map<string, string> {
  const found = text.matchAll(/;([A-Za-z0-9-]+)=("[^"]*"|[^;:]*)/g);
  return new Map([...found].map(([, name = '', value = '']) => [name.toUpperCase(), value.replace(/^"|"$/g, '')]));
}
