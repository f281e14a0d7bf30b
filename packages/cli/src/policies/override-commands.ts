import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { OverrideRequest, RolloutOverrides } from '@hoodcloud/contracts/http/policies';
import { agreedText, asideText } from '@hoodcloud/contracts/http/policy-text';
import { renderAge } from '@hoodcloud/domain/duration-text';
import type { Command } from 'commander';
import { resolveRolloutId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';
import { duration } from '../rollouts/rollout-request.ts';

interface OverrideFlags {
  readonly reason: string;
  readonly for?: number;
  readonly dryRun?: boolean;
}

/** `hoodctl rollout override|overrides` */
export function addOverrideCommands(rollout: Command, act: Act): void {
  rollout
    .command('override')
    .argument('<id>', 'the rollout, or "latest"')
    .argument('<rule>', 'as "rollout overrides" lists it, such as freeze/payout')
    .description('set one rule aside for one rollout, until it expires; needs the scope override')
    .requiredOption('--reason <text>', 'why; kept in the history with your name')
    .option('--for <duration>', 'how long it holds, at most 7d; 4h when left out', duration)
    .option('--dry-run', 'only check whether it is allowed now')
    .action(act<OverrideFlags>(override));
  rollout
    .command('overrides')
    .argument('<id>', 'the rollout, or "latest"')
    .description('list which rules hold it back that can be set aside, and which were')
    .action(act(overrides));
}

async function override(
  io: CommandIo,
  [given = '', rule = '']: readonly string[],
  { reason, for: ms, dryRun }: OverrideFlags,
): Promise<void> {
  const api = await io.api();
  const body: OverrideRequest = {
    rule,
    reason,
    ...(ms !== undefined && { expires_in_seconds: Math.round(ms / 1000) }),
  };
  const id = await resolveRolloutId(api, given);
  const answer = await api.post<RolloutOverrides>(PATHS.rolloutOverrides(id), body, { dry_run: dryRun });
  if (dryRun) io.remark('It is allowed now; nothing was done.');
  else io.answer(answer, (found) => renderOverrides(found, io.context.now()));
}

async function overrides(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const found = await api.get<RolloutOverrides>(PATHS.rolloutOverrides(await resolveRolloutId(api, given)));
  io.answer(found, (answer) => renderOverrides(answer, io.context.now()));
}

function renderOverrides({ holding, items }: RolloutOverrides, now: Date): string {
  const held = holding.map((one) => [one.rule, one.nodes, agreedText(one), one.reason.sentence]);
  const said = items.map((one) => [
    one.rule,
    `${renderAge(one.created_at, now)} by ${one.actor}`,
    asideText(one),
    one.reason,
  ]);
  const holds =
    held.length === 0
      ? 'No rule that can be set aside holds it back now.\n'
      : renderTable(['rule', 'nodes', 'agreed', 'why'], held);
  return said.length === 0 ? holds : `${holds}\n${renderTable(['set aside', 'when', 'holds', 'why'], said)}`;
}
