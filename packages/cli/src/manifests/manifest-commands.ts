import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { upgradeManifestSchema } from '@hoodcloud/contracts/files/upgrade-manifest';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import type { Command } from 'commander';
import { UsageError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

const AFTER = `
Needs no control plane: run it in the repository of your chain configs, before a manifest is published.
Exits 1 when a file is wrong; each problem names file, line and column.

  $ hoodctl manifest lint upgrades/celestia-mocha/*.yaml`;

/** `hoodctl manifest …` */
export function addManifestCommands(program: Command, act: Act): void {
  const manifest = program.command('manifest').description('upgrade manifests');
  manifest
    .command('lint')
    .argument('<file...>', 'upgrade manifests')
    .description('check upgrade manifests on this machine')
    .addHelpText('after', AFTER)
    .action(act(lint));
}

async function lint(io: CommandIo, files: readonly string[]): Promise<ExitCode> {
  const checked = await Promise.all(files.map(async (file) => ({ file, problems: await problemsOf(file) })));
  io.answer(checked, (results) => results.map(renderResult).join(''));
  return checked.some(({ problems }) => problems.length > 0) ? EXIT.failed : EXIT.done;
}

/**
 * What is wrong with a manifest, the place it stands in included: `upgrades/{chain_profile_id}/{upgrade_id}.yaml` is how
 * the control plane finds it.
 */
async function problemsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read: ${error.message}`);
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
