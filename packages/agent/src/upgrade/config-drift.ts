import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../agent-error.ts';
import { replaceFile } from '../host/atomic-file.ts';
import { diffLines } from '../host/line-diff.ts';
import type { ActionParams, ConfigFileToWrite } from './action.ts';
import { BACKUP_FILE_MODE } from './backup-manifest.ts';

/** Larger files, and more lines of a diff, are nothing that a person reads in a terminal. */
const MAX_COMPARED_BYTES = 512 * 1024;
const MAX_DIFF_LINES = 200;
const MAX_LINE_CHARACTERS = 500;

interface Compared {
  readonly places: string;
  readonly unified: readonly string[];
}

/**
 * Finds local edits before anything is stopped (E4, field-case 53). With policy `overwrite` they are told and stay in the
 * backup that follows; a diff of each is kept beside the backup, for root only.
 * @throws AgentError `config_drift` that says which lines of which files were edited
 */
export async function reportDrift(params: ActionParams): Promise<void> {
  const sentences: string[] = [];
  const overwritten = params.driftPolicy === 'overwrite';
  for (const [index, file] of params.configFiles.entries()) {
    const { path, checksum, lastWrittenChecksum } = file;
    if (lastWrittenChecksum === null) continue;
    const now = await params.runtime.configChecksum(path);
    if (now === lastWrittenChecksum || now === checksum) continue;
    const { places, unified } = await compare(params, file);
    const kept = unified.length === 0 ? null : await keepDiff(params, file, index, unified);
    const diff = params.driftReporting.showDiff ? shortened(unified) : [];
    params.driftReporting.tell({ path, places, diff, overwritten });
    const where = places === '' ? '' : `, lines ${places}`;
    const look = kept === null ? '' : `; the diff is in ${kept} on the host`;
    sentences.push(
      `${path} was changed on the host since it was last written (${now ?? 'it is gone'}, expected ${lastWrittenChecksum})${where}${look}`,
    );
  }
  if (sentences.length === 0) return;
  if (overwritten) return params.onProgress(0, `overwritten, kept in the backup: ${sentences.join('; ')}`);
  const help = 'take the change into the template, or upgrade with drift policy "overwrite"';
  throw new AgentError('config_drift', `${sentences.join('; ')}: ${help}`);
}

async function compare(params: ActionParams, file: ConfigFileToWrite): Promise<Compared> {
  const nothing: Compared = { places: '', unified: [] };
  const { lastWrittenChecksum } = file;
  const old = lastWrittenChecksum && (await params.driftReporting.lastWritten(file.path, lastWrittenChecksum));
  const now = await params.runtime.readConfig(file.path, MAX_COMPARED_BYTES);
  if (!old || now === null || old.length > MAX_COMPARED_BYTES) return nothing;
  const [oldText, nowText] = [textOf(old), textOf(now)];
  return oldText === null || nowText === null ? nothing : diffLines(oldText, nowText);
}

/** Null for what is no text. */
function textOf(content: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null; // the only way to fail is a byte that isn't UTF-8
  }
}

async function keepDiff(
  { backupDir }: ActionParams,
  { path }: ConfigFileToWrite,
  index: number,
  unified: readonly string[],
): Promise<string> {
  const folder = join(backupDir, 'drift');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = join(folder, `${index + 1}.diff`);
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const text = [`--- ${path} as last written`, `+++ ${path} on the host`, ...unified, ''].join('\n');
  await replaceFile(kept, text, { mode: BACKUP_FILE_MODE, ...owner });
  return kept;
}

function shortened(unified: readonly string[]): string[] {
  const lines = unified.slice(0, MAX_DIFF_LINES).map((line) => line.slice(0, MAX_LINE_CHARACTERS));
  return unified.length > MAX_DIFF_LINES ? [...lines, `… ${unified.length - MAX_DIFF_LINES} more lines`] : lines;
}
