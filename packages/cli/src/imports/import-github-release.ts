import { readGithubRelease } from '@hoodcloud/domain/release-import/github-release';
import type { CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { finishImport } from './finish-import.ts';
import { byPlatform, type ImportOptions } from './import-options.ts';
import { parseJson, readSource } from './read-source.ts';

interface ReleaseOptions extends ImportOptions {
  readonly releaseJson: string;
  readonly asset: readonly string[];
}

/** `hoodctl import github-release` */
export async function importGithubRelease(
  io: CommandIo,
  _args: readonly string[],
  options: ReleaseOptions,
): Promise<ExitCode> {
  const source = await readSource(io, options.releaseJson);
  const announcement = readGithubRelease(parseJson(source), {
    file: source.name,
    targetVersion: options.targetVersion ?? null,
    assets: byPlatform('--asset', options.asset),
    platforms: options.platform,
  });
  return finishImport(io, announcement, options);
}
