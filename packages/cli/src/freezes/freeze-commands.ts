import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { PolicyView } from '@hoodcloud/contracts/http/policies';
import type { Freeze } from '@hoodcloud/contracts/policies/freeze';
import { isoTime } from '@hoodcloud/domain/iso-time';
import type { Command } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { carryOutAll } from '../apply/carry-out.ts';
import { changeOf, type DocumentChange, deletionOf } from '../apply/document-change.ts';
import { CliError, UsageError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { readSource } from '../imports/read-source.ts';
import { wholeNumber } from '../rollouts/rollout-request.ts';
import { type Occurrence, readCalendar } from './read-calendar.ts';

const AFTER = `
Each time that an event takes place becomes a freeze policy; imported again, only what changed in the calendar is changed, and
what it names no more is taken away. A calendar with a mistake is refused by line, and nothing is changed.

  $ hoodctl freeze import payouts.ics --time-zone Europe/Berlin --dry-run
  $ hoodctl freeze import https://calendar.example.org/holidays.ics --matching freeze --chain gaia --label customer=acme`;

const DAY_MS = 86_400_000;
const MOST_FREEZES = 500;

interface ImportFlags {
  readonly calendar?: string;
  readonly timeZone?: string;
  readonly matching?: string;
  readonly days: number;
  readonly chain?: readonly string[];
  readonly type?: readonly string[];
  readonly label?: readonly string[];
  readonly allowEmpty?: boolean;
  readonly dryRun?: boolean;
}

/** `hoodctl freeze …` */
export function addFreezeCommands(program: Command, act: Act): void {
  const freeze = program.command('freeze').description('times in which no node may be started');
  freeze
    .command('import')
    .argument('<file|url>', 'a calendar (iCalendar, .ics)')
    .description('make freezes of the events of a calendar')
    .option('--calendar <name>', 'by which its freezes are known again; the name of the file when left out')
    .option('--time-zone <zone>', 'for whole days and times that name no zone; what the calendar says when left out')
    .option('--matching <text>', 'only events whose summary or category has this text')
    .option('--days <n>', 'how far ahead events are looked for', wholeNumber, 366)
    .option('--chain <id...>', 'freeze only these chains')
    .option('--type <type...>', 'freeze only nodes of these types')
    .option('--label <name=value...>', 'freeze only nodes with these labels')
    .option('--allow-empty', 'take every freeze of the calendar away when it has no event ahead')
    .option('--dry-run', 'show what would change, change nothing')
    .addHelpText('after', AFTER)
    .action(act<ImportFlags>(importFreezes));
}

async function importFreezes(io: CommandIo, [from = '']: readonly string[], flags: ImportFlags): Promise<void> {
  const scope = scopeOf(flags);
  const source = await readSource(io, from);
  const now = io.context.now().getTime();
  const { timeZone = null, matching = null, days } = flags;
  const found = readCalendar(source, { timeZone, matching, after: now, before: now + days * DAY_MS });
  if (found.length > MOST_FREEZES) {
    throw new CliError(`${from} has ${found.length} events ahead, and at most ${MOST_FREEZES} are taken.`, {
      next: 'take fewer by --matching or --days',
    });
  }
  const managedBy = `calendar:${flags.calendar ?? basename(new URL(from, 'file:///').pathname, '.ics')}`;
  const changes = await changesOf(io, managedBy, found, scope, flags.allowEmpty ?? false);
  await carryOutAll(io, changes, flags.dryRun ?? false);
}

async function changesOf(
  io: CommandIo,
  managedBy: string,
  found: readonly Occurrence[],
  scope: Freeze['scope'],
  allowEmpty: boolean,
): Promise<DocumentChange[]> {
  const api = await io.api();
  const policies = await allPages<PolicyView>(api, PATHS.policies, { kind: 'freeze' });
  const own = policies.filter((policy) => policy.managed_by === managedBy);
  if (found.length === 0 && own.length > 0 && !allowEmpty) {
    throw new CliError(`The calendar has no event ahead, and ${own.length} of its freezes stand; they were left.`, {
      next: 'see that it is the right calendar; --allow-empty takes them away',
    });
  }
  const present = { api, policies, managedBy };
  const names = new Set(found.map(nameOf));
  const wanted = await Promise.all(
    found.map((one) => changeOf({ kind: 'freeze', name: nameOf(one), spec: specOf(one, scope) }, present)),
  );
  return [...wanted, ...own.filter(({ name }) => !names.has(name)).map((policy) => deletionOf(policy, present))];
}

/** By the event's UID, which stays when its words or times are changed. */
function nameOf({ uid, key }: Occurrence): string {
  const event = createHash('sha256').update(uid).digest('hex').slice(0, 12);
  return key === '' ? `ics-${event}` : `ics-${event}-${key}`;
}

function specOf({ from, to, summary }: Occurrence, scope: Freeze['scope']): Freeze {
  return { scope, from: isoTime(from), to: isoTime(to), reason: summary.slice(0, 500) };
}

/** @throws UsageError when a label has no value */
function scopeOf({ chain, type, label = [] }: ImportFlags): Freeze['scope'] {
  const labels = label.map((text) => {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (name === '') throw new UsageError(`"${text}" is no label: say NAME=VALUE, such as customer=acme`);
    return [name, value] as const;
  });
  return {
    ...(chain && { chains: [...chain] }),
    ...(type && { node_types: [...type] }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  };
}
