import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { CreateScopeGrantInput, ScopeGrantView } from '@hoodcloud/contracts/http/scope-grants';
import { SCOPES, type Scope } from '@hoodcloud/contracts/http/scopes';
import { renderAge } from '@hoodcloud/domain/duration-text';
import { type Command, Option } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { CliError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';

interface GrantFlags {
  readonly scope: Scope;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

/** `hoodctl grant …` */
export function addGrantCommands(program: Command, act: Act): void {
  const grant = program.command('grant').description('what people who come with a JWT may do');
  grant
    .command('add')
    .argument('<subject>', 'the "sub" of their tokens')
    .description('grant a scope')
    .addOption(new Option('--scope <scope>', 'what they may do').choices(SCOPES).makeOptionMandatory())
    .option('--reason <text>', 'why; kept in the history')
    .option('--dry-run', 'only check whether it is allowed now')
    .action(act<GrantFlags>(add));
  grant.command('list').description('list grants').action(act(list));
  grant
    .command('revoke')
    .argument('<subject>', 'the "sub" of their tokens')
    .description('take a scope back at once')
    .addOption(new Option('--scope <scope>', 'which').choices(SCOPES).makeOptionMandatory())
    .action(act<GrantFlags>(revoke));
}

async function add(io: CommandIo, [subject = '']: readonly string[], flags: GrantFlags): Promise<void> {
  const { scope, reason, dryRun } = flags;
  const body: CreateScopeGrantInput = { subject, scope, reason };
  const grant = await (await io.api()).post<ScopeGrantView>(PATHS.scopeGrants, body, { dry_run: dryRun });
  if (dryRun) io.remark('It is allowed now; nothing was done.');
  else io.answer(grant, () => `${subject} has ${scope}.\n`);
}

async function list(io: CommandIo): Promise<void> {
  const items = await allPages<ScopeGrantView>(await io.api(), PATHS.scopeGrants);
  io.answer(items, (grants) => renderGrants(grants, io.context.now()));
}

async function revoke(io: CommandIo, [subject = '']: readonly string[], { scope }: GrantFlags): Promise<void> {
  const api = await io.api();
  const grants = await allPages<ScopeGrantView>(api, PATHS.scopeGrants, { subject });
  const found = grants.find((grant) => grant.scope === scope && grant.revoked_at === null);
  if (!found) throw new CliError(`${subject} has no grant of ${scope}.`, { next: 'hoodctl grant list' });
  await api.delete(PATHS.scopeGrant(found.id));
  io.remark(`${subject} has no ${scope} any more.`);
}

function renderGrants(grants: readonly ScopeGrantView[], now: Date): string {
  const rows = grants.map((grant) => [
    grant.subject,
    grant.scope,
    grant.revoked_at ? `revoked ${renderAge(grant.revoked_at, now)} by ${grant.revoked_by}` : 'stands',
    `${renderAge(grant.granted_at, now)} by ${grant.granted_by}`,
    grant.reason,
  ]);
  return renderTable(['subject', 'scope', 'state', 'granted', 'why'], rows);
}
