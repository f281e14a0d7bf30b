import { asRecord } from '@hoodcloud/domain/release-import/announcement';
import { entryNames, readCosmosRegistry } from '@hoodcloud/domain/release-import/cosmos-registry';
import type { ImportDefect } from '@hoodcloud/domain/release-import/import-defects';
import { judgeAnnouncement } from '@hoodcloud/domain/release-import/judge-announcement';
import type { CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderTable } from '../output/table.ts';
import { parseJson, readSource } from './read-source.ts';

/** What an entry of a registry file is good for. */
interface CheckedEntry {
  readonly chain: string;
  readonly name: string;
  /** Platforms of which a manifest could be made as it stands. */
  readonly platforms: readonly string[];
  readonly defects: readonly ImportDefect[];
}

/** `hoodctl import check`: every entry of registry files, without making a manifest of any. Fails when one can't be imported. */
export async function checkRegistry(io: CommandIo, files: readonly string[]): Promise<ExitCode> {
  const checked: CheckedEntry[] = [];
  for (const file of files) {
    const document = parseJson(await readSource(io, file));
    for (const name of entryNames(document)) checked.push(checkEntry(document, file, name));
  }
  io.answer(checked, render);
  return checked.some(isUnsafe) ? EXIT.failed : EXIT.done;
}

function checkEntry(document: unknown, file: string, name: string): CheckedEntry {
  const announcement = readCosmosRegistry(document, { file, version: name, targetVersion: null });
  const wishes = { platforms: [], members: {}, allowPrerelease: false, verify: false };
  const { artifacts, defects } = judgeAnnouncement(announcement, wishes);
  const chain = asRecord(document)?.chain_name;
  const unsafe = defects.some(({ stops }) => stops);
  return {
    chain: typeof chain === 'string' ? chain : file,
    name,
    platforms: unsafe ? [] : artifacts.map(({ platform }) => platform),
    defects,
  };
}

function isUnsafe({ defects }: CheckedEntry): boolean {
  return defects.some(({ stops }) => stops);
}

function render(checked: readonly CheckedEntry[]): string {
  const rows = checked.map((entry) => [
    entry.chain,
    entry.name,
    entry.platforms.join(' '),
    tally(entry.defects.filter(({ stops }) => stops)),
    tally(entry.defects.filter(({ stops }) => !stops)),
  ]);
  const good = checked.filter((entry) => !isUnsafe(entry)).length;
  const table = renderTable(['chain', 'entry', 'importable for', 'stopped by', 'told'], rows);
  const all = checked.flatMap(({ defects }) => defects);
  return `${table}\n${good} of ${checked.length} entries can be imported as they stand. Found: ${tally(all) || 'nothing'}\n`;
}

/** `checksum_missing ×4, height_missing`, the most frequent first. */
function tally(defects: readonly ImportDefect[]): string {
  const counts = new Map<string, number>();
  for (const { code } of defects) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => (count === 1 ? code : `${code} ×${count}`))
    .join(', ');
}
