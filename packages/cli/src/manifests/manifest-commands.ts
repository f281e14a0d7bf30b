import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileJsonSchema, SCHEMA_NAMES, type SchemaName } from '@hoodcloud/contracts/files/json-schemas';
import { upgradeManifestSchema } from '@hoodcloud/contracts/files/upgrade-manifest';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { type MinisignKey, minisignKey, whyNotMinisigned } from '@hoodcloud/contracts/signature/minisign';
import { Argument, type Command } from 'commander';
import { UsageError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { listManifests } from './list-manifests.ts';

const AFTER = `
Needs no control plane: run it in the repository of your chain configs, before a manifest is published.
Exits 1 when a file is wrong; each problem names file, line and column.

  $ hoodctl manifest lint upgrades/celestia-mocha/*.yaml`;

const SCHEMA_AFTER = `
Made from the schema that the control plane judges by. An editor completes and checks a manifest that begins with
  # yaml-language-server: $schema=./upgrade-manifest.schema.json

  $ hoodctl manifest schema > upgrade-manifest.schema.json
  $ hoodctl manifest schema chain-profile`;

/** `hoodctl manifest …` */
export function addManifestCommands(program: Command, act: Act): void {
  const manifest = program.command('manifest').description('upgrade manifests');
  manifest
    .command('list')
    .argument('<chain>', 'chain_profile_id')
    .description('list the manifests that the control plane has for a chain')
    .action(act(listManifests));
  manifest
    .command('lint')
    .argument('<file...>', 'upgrade manifests')
    .description('check upgrade manifests on this machine')
    .option('--key <key...>', 'minisign public keys; one of them must have signed each manifest (FILE.minisig)', [])
    .addHelpText('after', AFTER)
    .action(act(lint));
  manifest
    .command('schema')
    .addArgument(new Argument('[file]', 'which file of a chain').choices(SCHEMA_NAMES).default('upgrade-manifest'))
    .description('print the JSON Schema of a file, for editors and pipelines')
    .addHelpText('after', SCHEMA_AFTER)
    .action(act(schema));
}

async function schema(io: CommandIo, [wanted]: readonly string[]): Promise<ExitCode> {
  const name: SchemaName = SCHEMA_NAMES.find((one) => one === wanted) ?? 'upgrade-manifest';
  io.answer(fileJsonSchema(name), (found) => `${JSON.stringify(found, null, 2)}\n`);
  return EXIT.done;
}

async function lint(
  io: CommandIo,
  files: readonly string[],
  { key: keys }: { readonly key: readonly string[] },
): Promise<ExitCode> {
  const trusted = keys.map(readKey);
  const checked = await Promise.all(
    files.map(async (file) => ({ file, problems: [...(await problemsOf(file)), ...(await unsigned(file, trusted))] })),
  );
  io.answer(checked, (results) => results.map(renderResult).join(''));
  return checked.some(({ problems }) => problems.length > 0) ? EXIT.failed : EXIT.done;
}

function readKey(text: string): MinisignKey {
  const key = minisignKey(text);
  if (key === null)
    throw new UsageError(`--key ${text} is no minisign public key: it begins with RW and has 56 characters`);
  return key;
}

/** What the control plane says of the signature when its HOODCLOUD_MANIFEST_KEYS names these keys. */
async function unsigned(file: string, keys: readonly MinisignKey[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const signature = await readFile(`${file}.minisig`, 'utf8').catch(() => null);
  if (signature === null) return [`${file}: ${file}.minisig can't be read: sign the manifest by minisign -Sm ${file}`];
  const digest = async () =>
    createHash('blake2b512')
      .update(await readFile(file))
      .digest();
  const why = await whyNotMinisigned(digest, signature, keys);
  return why === null ? [] : [`${file}: ${why}`];
}

/**
 * What is wrong with a manifest, the place it stands in included: `upgrades/{chain_profile_id}/{upgrade_id}.yaml` is how
 * the control plane finds it.
 */
async function problemsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read: ${error.message}`, { next: 'hoodctl manifest lint --help' });
  });
  try {
    const manifest = parseYamlFile(file, text, upgradeManifestSchema);
    const name = basename(file).replace(/\.ya?ml$/, '');
    const folder = basename(dirname(file));
    return [
      ...(name === manifest.upgrade_id
        ? []
        : [`${file}: upgrade_id is "${manifest.upgrade_id}", the file is named "${name}"`]),
      ...(folder === manifest.chain_profile_id || folder === '.'
        ? []
        : [`${file}: chain_profile_id is "${manifest.chain_profile_id}", the folder is named "${folder}"`]),
    ];
  } catch (error) {
    if (error instanceof FileFormatError) return error.problems;
    throw error;
  }
}

function renderResult({ file, problems }: { file: string; problems: readonly string[] }): string {
  return problems.length === 0 ? `✓ ${file}\n` : problems.map((problem) => `✗ ${problem}\n`).join('');
}
