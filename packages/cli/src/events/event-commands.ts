import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { Command } from 'commander';
import type { Act } from '../command-io.ts';
import { type EventsFlags, printEvents } from '../watch/print-events.ts';

const AFTER = `
  $ hoodctl events --output json | jq '.[] | select(.actor == "key:on-call")'`;

/** `hoodctl events` */
export function addEventsCommand(program: Command, act: Act): void {
  program
    .command('events')
    .description('show the history of everything: who did what, and why')
    .option('--follow', 'stay and show new events')
    .addHelpText('after', AFTER)
    .action(act<EventsFlags>((io, _, flags) => printEvents(io, PATHS.events, flags)));
}
