import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { happeningText, whyText } from '@hoodcloud/contracts/http/view-text';
import { type Command, Option } from 'commander';
import type { Act, CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';
import { duration } from '../rollouts/rollout-request.ts';

const AFTER = `
  $ hoodctl audit                                   what people did, the newest first
  $ hoodctl audit --actor anna --since 24h
  $ hoodctl audit --kind rollout_control_ordered --chain celestia-mocha
  $ hoodctl audit --by all --limit 500`;

interface AuditFlags {
  readonly by: string;
  readonly actor?: string;
  readonly kind?: string;
  readonly chain?: string;
  readonly since?: number;
  readonly limit: string;
}

/** `hoodctl audit` */
export function addAuditCommand(program: Command, act: Act): void {
  program
    .command('audit')
    .description('show who did what and why, the newest first')
    .addOption(new Option('--by <whom>', 'people or system').choices(['people', 'system', 'all']).default('people'))
    .option('--actor <part>', 'only actors with this in their name')
    .option('--kind <kind>', 'only events of this kind, e.g. rollout_control_ordered')
    .option('--chain <id>', 'only this chain')
    .option('--since <duration>', 'only what happened in the last, e.g. 24h', duration)
    .option('--limit <count>', 'at most so many, up to 500', '50')
    .addHelpText('after', AFTER)
    .action(act<AuditFlags>(audit));
}

async function audit(io: CommandIo, _: readonly string[], flags: AuditFlags): Promise<void> {
  const { by, actor, kind, chain, limit, since } = flags;
  const { items } = await (await io.api()).get<Page<EventView>>(PATHS.audit, {
    by,
    actor,
    kind,
    chain_profile_id: chain,
    limit,
    since: since === undefined ? undefined : new Date(io.context.now().getTime() - since).toISOString(),
  });
  io.answer(items, renderAudit);
  if (items.length === 0) io.remark('Nothing fits.');
}

function renderAudit(events: readonly EventView[]): string {
  const rows = events.map((event) => [
    event.occurred_at,
    event.actor,
    happeningText(event),
    event.node_name ?? event.chain_profile_id ?? event.subject_type,
    whyText(event),
  ]);
  return renderTable(['when', 'who', 'what', 'about', 'why'], rows);
}
