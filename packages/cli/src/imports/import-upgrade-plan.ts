import { createHash } from 'node:crypto';
import { readAnnouncedChecksum } from '@hoodcloud/domain/release-import/announced-checksum';
import { type AnnouncedPlace, importDefect } from '@hoodcloud/domain/release-import/import-defects';
import {
  findUpgradePlan,
  type PlanBinaries,
  planAnnouncement,
  readPlanInfo,
} from '@hoodcloud/domain/release-import/upgrade-plan';
import type { CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { finishImport } from './finish-import.ts';
import type { ImportOptions } from './import-options.ts';
import { readSource } from './read-source.ts';

interface PlanOptions extends ImportOptions {
  readonly plan: string;
}

/** `hoodctl import upgrade-plan` */
export async function importUpgradePlan(
  io: CommandIo,
  _args: readonly string[],
  options: PlanOptions,
): Promise<ExitCode> {
  const source = await readSource(io, options.plan);
  const plan = findUpgradePlan(source.text, source.name);
  const read = await followInfo(io, plan.info, plan.place);
  return finishImport(io, planAnnouncement(plan, read, options.targetVersion ?? null), options);
}

/** Reads info, or what stands at its address when the chain voted on the hash of that too. */
async function followInfo(io: CommandIo, info: string, place: AnnouncedPlace): Promise<PlanBinaries> {
  const read = readPlanInfo(info, place);
  if (read.kind === 'binaries') return read;
  if (read.kind === 'unusable') return { files: [], defects: [read.defect] };
  const { url, checksum: text } = read;
  if (text === null) return { files: [], defects: [importDefect('plan_info_unchecked', place, { url })] };
  const { checksum, defect, params } = readAnnouncedChecksum(text);
  if (checksum === null) return { files: [], defects: [importDefect(defect ?? 'checksum_malformed', place, params)] };
  const there = await readSource(io, url);
  const found = `sha256:${createHash('sha256').update(there.text).digest('hex')}`;
  if (found !== checksum) return { files: [], defects: [importDefect('checksum_differs', place, { found, checksum })] };
  const inside = readPlanInfo(there.text.trim(), { file: url, field: '' });
  if (inside.kind === 'binaries') return inside;
  const what = 'An address that leads to another address';
  const wrong =
    inside.kind === 'unusable' ? inside.defect : importDefect('file_malformed', { file: url, field: '' }, { what });
  return { files: [], defects: [wrong] };
}
