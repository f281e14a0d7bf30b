import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { PolicyView } from '@hoodcloud/contracts/http/policies';
import { freezeStateText, managedByText, policyText } from '@hoodcloud/contracts/http/policy-text';
import { POLICY_SPECS } from '@hoodcloud/contracts/policies/policy-document';
import { renderAge } from '@hoodcloud/domain/duration-text';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { allPages } from '../api/all-pages.ts';
import { UsageError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { renderPairs, renderTable } from '../output/table.ts';

const AFTER = `
A policy is a rule over the whole fleet: how many nodes may be down at once, when nodes may be changed, when they may not.
KIND/NAME names one, such as freeze/payout; "hoodctl apply -f" writes them.

  $ hoodctl policy list
  $ hoodctl apply -f policies.yaml --dry-run
  $ hoodctl rollout overrides latest                   what holds a rollout back, and what was set aside for it`;

/** `hoodctl policy …` */
export function addPolicyCommands(program: Command, act: Act): void {
  const policy = program
    .command('policy')
    .description('rules over the fleet: disruption budgets, maintenance windows, freezes')
    .addHelpText('after', AFTER);
  policy
    .command('list')
    .description('list policies')
    .addOption(new Option('--kind <kind>', 'only these').choices(Object.keys(POLICY_SPECS)))
    .option('--managed-by <source>', 'only those that this source applied')
    .action(act<{ kind?: string; managedBy?: string }>(list));
  policy.command('show').argument('<policy>', 'KIND/NAME').description('show one policy').action(act(show));
  policy
    .command('delete')
    .argument('<policy>', 'KIND/NAME')
    .description('take a policy away; rollouts that wait for it go on')
    .action(act(remove));
}

/** `freeze/payout` as the API wants it. @throws UsageError */
function pathOf(given: string): string {
  const [kind = '', name = ''] = given.split('/', 2);
  if (Object.hasOwn(POLICY_SPECS, kind) && name !== '') return PATHS.policy(kind, name);
  throw new UsageError(`"${given}" names no policy: say KIND/NAME, such as freeze/payout`, {
    details: [`kinds: ${Object.keys(POLICY_SPECS).join(', ')}`],
    next: 'hoodctl policy list',
  });
}

async function list(
  io: CommandIo,
  _: readonly string[],
  { kind, managedBy }: { kind?: string; managedBy?: string },
): Promise<void> {
  const items = await allPages<PolicyView>(await io.api(), PATHS.policies, { kind, managed_by: managedBy });
  io.answer(items, (policies) => renderPolicies(policies, io.context.now()));
  if (items.length === 0) io.remark('There is none: nothing limits when, or how many. Next: hoodctl apply --help');
}

async function show(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const policy = await (await io.api()).get<PolicyView>(pathOf(given));
  io.answer(policy, (answer) => renderPolicy(answer, io.context.now()));
}

async function remove(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const policy = await (await io.api()).delete<PolicyView>(pathOf(given));
  io.answer(policy, () => `${given} is gone.\n`);
}

function renderPolicies(policies: readonly PolicyView[], now: Date): string {
  const rows = policies.map((policy) => [
    `${policy.kind}/${policy.name}`,
    policy.covered_nodes,
    managedByText(policy),
    `${renderAge(policy.updated_at, now)} by ${policy.updated_by}`,
    [freezeStateText(policy, policies, now), policyText(policy)].filter((part) => part !== null).join('. '),
  ]);
  return renderTable(['policy', 'nodes', 'managed by', 'changed', 'says'], rows);
}

function renderPolicy(policy: PolicyView, now: Date): string {
  const facts = renderPairs([
    ['Policy', `${policy.kind}/${policy.name}`],
    ['Says', policyText(policy)],
    ['Now', freezeStateText(policy, [policy], now)],
    ['Covers', `${policy.covered_nodes} nodes`],
    ['Managed by', policy.managed_by ?? 'nobody: it was last changed by hand'],
    ['Changed', `${renderAge(policy.updated_at, now)} by ${policy.updated_by} (revision ${policy.revision})`],
  ]);
  return `${facts}\n${stringify(policy.spec)}`;
}
