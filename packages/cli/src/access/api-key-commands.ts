import type { ApiKeyView, CreateApiKeyInput, CreatedApiKey } from '@hoodcloud/contracts/http/api-keys';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { SCOPES, type Scope } from '@hoodcloud/contracts/http/scopes';
import { renderAge } from '@hoodcloud/domain/duration-text';
import { type Command, Option } from 'commander';
import { allPages } from '../api/all-pages.ts';
import type { ApiClient } from '../api/api-client.ts';
import { CliError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';

/** `hoodctl api-key …` */
export function addApiKeyCommands(program: Command, act: Act): void {
  const apiKey = program.command('api-key').description('who may call the API');
  apiKey
    .command('create')
    .argument('<name>', 'for whom or what it is; kept as the actor of everything done with it')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(SCOPES).default('read'))
    .description('make a key; its secret is shown once')
    .action(act<{ scope: Scope }>(create));
  apiKey.command('list').description('list keys').action(act(list));
  apiKey
    .command('revoke')
    .argument('<name>', 'its name or id')
    .description('make a key useless at once')
    .action(act(revoke));
}

async function create(io: CommandIo, [name = '']: readonly string[], { scope }: { scope: Scope }): Promise<void> {
  const body: CreateApiKeyInput = { name, scopes: [scope] };
  const key = await (await io.api()).post<CreatedApiKey>(PATHS.apiKeys, body);
  io.answer(key, ({ secret }) => `${secret}\n`);
  io.remark('It is shown this once. Whoever gets it: hoodctl login --url URL');
}

async function list(io: CommandIo): Promise<void> {
  const items = await allPages<ApiKeyView>(await io.api(), PATHS.apiKeys);
  io.answer(items, (keys) => renderApiKeys(keys, io.context.now()));
}

async function revoke(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  await api.delete(PATHS.apiKey(await resolveKeyId(api, given)));
  io.remark(`${given} is revoked.`);
}

async function resolveKeyId(api: ApiClient, given: string): Promise<string> {
  const keys = await allPages<ApiKeyView>(api, PATHS.apiKeys);
  const found = keys.find(({ id, name }) => id === given || name === given);
  if (found) return found.id;
  throw new CliError(`There is no key "${given}".`, { next: 'hoodctl api-key list' });
}

function renderApiKeys(keys: readonly ApiKeyView[], now: Date): string {
  const rows = keys.map((key) => [
    key.name,
    key.scopes.join(', '),
    key.revoked_at ? `revoked ${renderAge(key.revoked_at, now)}` : 'valid',
    renderAge(key.last_used_at, now),
    `${renderAge(key.created_at, now)} by ${key.created_by}`,
  ]);
  return renderTable(['name', 'scopes', 'state', 'last used', 'created'], rows);
}
