import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { PolicyView } from '@hoodcloud/contracts/http/policies';
import type { Command } from 'commander';
import { allPages } from '../api/all-pages.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { carryOutAll, showChanges } from './carry-out.ts';
import { changeOf, type DocumentChange, deletionOf, type Present } from './document-change.ts';
import { readDocuments } from './read-documents.ts';

const AFTER = `
A file holds one or more documents, apart by "---":
  kind: freeze                   disruption_budget, maintenance_window, freeze, rollout or chain
  name: payout
  spec: { from: 2026-12-20T00:00:00Z, to: 2026-12-27T00:00:00Z, reason: payout week }

Policies are written as the documents say. A rollout is created once under its name and never started from here. Of a chain
it is only compared what is expected of it: its files stand in the config folder of the control plane.
All documents are checked before the first one is applied.`;

interface ApplyFlags {
  readonly file: readonly string[];
  readonly prune?: boolean;
  readonly dryRun?: boolean;
  readonly managedBy: string;
}

/** `hoodctl apply`, `hoodctl diff` */
export function addApplyCommands(program: Command, act: Act): void {
  const common = (command: Command) =>
    command
      .requiredOption('-f, --file <path...>', 'files, and folders with *.yaml')
      .option('--prune', 'also take away the policies that this source applied once and names no more')
      .option('--managed-by <source>', 'name of the source, such as its repository', 'apply');
  common(program.command('apply'))
    .description('make policies, and create rollouts, as files say')
    .option('--dry-run', 'show what would change, let the server check it, change nothing')
    .addHelpText('after', AFTER)
    .action(act<ApplyFlags>(apply));
  common(program.command('diff'))
    .description('show in what the control plane differs from files; exits 4 when it does')
    .addHelpText('after', AFTER)
    .action(act<ApplyFlags>(diff));
}

async function changesOf(io: CommandIo, flags: ApplyFlags): Promise<DocumentChange[]> {
  const parts = await readDocuments(flags.file);
  const api = await io.api();
  const policies = await allPages<PolicyView>(api, PATHS.policies);
  const present: Present = { api, policies, managedBy: flags.managedBy };
  const changes: DocumentChange[] = [];
  for (const { value } of parts) changes.push(await changeOf(value, present));
  if (!flags.prune) return changes;
  const named = new Set(parts.map(({ value: { kind, name } }) => `${kind}/${name}`));
  const gone = policies.filter((one) => one.managed_by === flags.managedBy && !named.has(`${one.kind}/${one.name}`));
  return [...changes, ...gone.map((policy) => deletionOf(policy, present))];
}

async function diff(io: CommandIo, _: readonly string[], flags: ApplyFlags): Promise<ExitCode> {
  const changes = await changesOf(io, flags);
  showChanges(io, changes);
  return changes.every(({ kind }) => kind === 'unchanged') ? EXIT.done : EXIT.planWouldChange;
}

async function apply(io: CommandIo, _: readonly string[], flags: ApplyFlags): Promise<ExitCode> {
  const changes = await changesOf(io, flags);
  await carryOutAll(io, changes, flags.dryRun ?? false);
  return changes.some(({ kind }) => kind === 'differs') ? EXIT.failed : EXIT.done;
}
