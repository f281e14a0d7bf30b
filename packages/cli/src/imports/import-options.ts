import type { ImportWishes } from '@hoodcloud/domain/release-import/judge-announcement';
import type { Command } from 'commander';
import { UsageError } from '../cli-error.ts';

/** Options that every import has. */
export interface ImportOptions {
  readonly chain: string;
  readonly type: string;
  readonly binary: string;
  readonly upgradeId?: string;
  readonly targetVersion?: string;
  readonly platform: readonly string[];
  readonly member: readonly string[];
  readonly checksums: readonly string[];
  readonly allowPrerelease?: boolean;
  readonly verify?: boolean;
  readonly out?: string;
}

/** Adds them to a command. */
export function withImportOptions(command: Command): Command {
  return command
    .requiredOption('--chain <chain>', 'chain_profile_id of the manifest')
    .requiredOption('--type <type>', 'node_type of the manifest')
    .requiredOption('--binary <name>', 'binary_name of the manifest: the component that is upgraded')
    .option('--upgrade-id <id>', "upgrade_id of the manifest; by default the announcement's own name of it")
    .option(
      '--target-version <version>',
      'what the new program calls its version, where the announcement leaves it open',
    )
    .option('--platform <platform...>', 'platforms to import; by default every Linux one that is announced', [])
    .option('--member <[platform=]file...>', 'the program inside the archive, as "tar -tf" lists it', [])
    .option('--checksums <file|url...>', 'SHA-256 sums of the files: SHA256SUMS, checksums.txt, NAME.sha256', [])
    .option('--verify', 'download each file, compare its hash, and look what the program is built for')
    .option('--allow-prerelease', 'take a release candidate too')
    .option('--out <file>', 'write the manifest there instead of showing it; never over another file');
}

/** What the options ask of the announcement. */
export function wishesOf({ platform, member, allowPrerelease, verify }: ImportOptions): ImportWishes {
  return {
    platforms: platform,
    members: byPlatform('--member', member),
    allowPrerelease: allowPrerelease === true,
    verify: verify === true,
  };
}

/**
 * Reads `PLATFORM=FILE`, and `FILE` for all others as `*`.
 * @throws UsageError
 */
export function byPlatform(option: string, given: readonly string[]): Readonly<Record<string, string>> {
  const pairs = given.map((text) => {
    const [, platform = '*', file = ''] = /^(?:([a-z0-9]+\/[a-z0-9]+)=)?(.*)$/.exec(text) ?? [];
    if (file === '') throw new UsageError(`${option} "${text}" names no file: give PLATFORM=FILE`);
    return [platform, file] as const;
  });
  return Object.fromEntries(pairs);
}
