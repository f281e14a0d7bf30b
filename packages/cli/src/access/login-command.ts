import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import type { Command } from 'commander';
import { ApiClient } from '../api/api-client.ts';
import { UsageError } from '../cli-error.ts';
import type { Act, CommandIo, GlobalOptions } from '../command-io.ts';
import { normalUrl } from '../session/connection.ts';
import { credentialsPath, writeCredentials } from '../session/credentials-file.ts';

const AFTER = `
The key is read from --api-key, HOODCLOUD_API_KEY, or the first line of standard input, tried, and kept in a file that
only you can read ($XDG_CONFIG_HOME/hoodcloud/hoodctl.json).

  $ hoodctl login --url https://rollouts.example.org < key.txt`;

/** `hoodctl login` */
export function addLoginCommand(program: Command, act: Act): void {
  program
    .command('login')
    .description('keep URL and API key for later commands')
    .addHelpText('after', AFTER)
    .action(act(login));
}

async function login(io: CommandIo, _: readonly string[], flags: GlobalOptions): Promise<void> {
  const { env } = io.context;
  const given = flags.url ?? env.HOODCLOUD_URL;
  if (!given) throw new UsageError('Which control plane?', { next: 'hoodctl login --url http://HOST:8080' });
  const apiKey = flags.apiKey ?? env.HOODCLOUD_API_KEY ?? (await firstLine());
  if (!apiKey) throw new UsageError('No key was given.', { next: 'hoodctl login --url URL < key.txt' });
  const credentials = { url: normalUrl(given), apiKey };
  await new ApiClient(credentials, io.context).get<Page<RolloutView>>(PATHS.rollouts, { limit: 1 }); // a wrong key is told now
  const path = credentialsPath(env);
  await writeCredentials(path, credentials);
  io.remark(`Logged in to ${credentials.url}; kept in ${path}.`);
}

async function firstLine(): Promise<string> {
  if (process.stdin.isTTY) return '';
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.split('\n')[0]?.trim() ?? '';
}
