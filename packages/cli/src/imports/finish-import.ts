import { writeFile } from 'node:fs/promises';
import { upgradeManifestSchema } from '@hoodcloud/contracts/files/upgrade-manifest';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import type { Announcement } from '@hoodcloud/domain/release-import/announcement';
import { readChecksumList, withChecksums } from '@hoodcloud/domain/release-import/checksum-list';
import { defectLine, type ImportDefect } from '@hoodcloud/domain/release-import/import-defects';
import { judgeAnnouncement } from '@hoodcloud/domain/release-import/judge-announcement';
import { UsageError } from '../cli-error.ts';
import type { CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type ImportOptions, wishesOf } from './import-options.ts';
import { manifestYaml } from './manifest-yaml.ts';
import { readSource } from './read-source.ts';
import { verifyArtifacts } from './verify-artifacts.ts';

/**
 * Ends an import: every defect is told, and the manifest is made when none of them stops it.
 * @throws UsageError when the names that the options give fit no manifest, or `--out` is there already
 */
export async function finishImport(
  io: CommandIo,
  announcement: Announcement,
  options: ImportOptions,
): Promise<ExitCode> {
  const lists = await Promise.all(options.checksums.map((from) => readSource(io, from)));
  const summed = withChecksums(
    announcement,
    lists.map(({ text, name }) => readChecksumList(text, name)),
  );
  const { artifacts, defects: announced } = judgeAnnouncement(summed, wishesOf(options));
  const found = options.verify ? await verifyArtifacts(io, artifacts) : [];
  const defects = [...announced, ...found];
  const safe = artifacts.length > 0 && !defects.some(({ stops }) => stops);
  const yaml = safe ? manifestYaml(announcement, artifacts, namesOf(announcement, options)) : null;
  const manifest = yaml === null ? null : checked(yaml);
  for (const defect of defects) io.remark(render(defect));
  if (yaml !== null && options.out !== undefined) await write(options.out, yaml);
  io.answer({ manifest, defects }, () => (options.out === undefined ? (yaml ?? '') : ''));
  if (yaml === null) {
    io.remark('No manifest was made. What each code means: docs/reference/import-defects.md');
    return EXIT.failed;
  }
  if (options.out !== undefined) io.remark(`Written to ${options.out}. Next: hoodctl manifest lint ${options.out}`);
  return EXIT.done;
}

function namesOf({ name }: Announcement, { upgradeId = name ?? '', chain, type, binary }: ImportOptions) {
  return { upgradeId, chain, nodeType: type, binary };
}

/** The manifest as the control plane would read it. */
function checked(yaml: string) {
  try {
    return parseYamlFile('manifest', yaml, upgradeManifestSchema);
  } catch (error) {
    if (!(error instanceof FileFormatError)) throw error;
    throw new UsageError('The names given make no valid manifest.', {
      details: error.problems,
      next: 'give --upgrade-id, --chain, --type and --binary as the chain has them',
    });
  }
}

async function write(file: string, yaml: string): Promise<void> {
  await writeFile(file, yaml, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'EEXIST' ? 'is there already and is not written over' : `can't be written: ${error.message}`;
    throw new UsageError(`${file} ${why}`, { next: 'name another file by --out' });
  });
}

function render(defect: ImportDefect): string {
  return `${defect.stops ? '✗' : '!'} ${defectLine(defect)}\n    ${defect.advice}`;
}
