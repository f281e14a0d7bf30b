import type { CommandIo } from '../command-io.ts';
import type { DocumentChange } from './document-change.ts';
import { differenceLines } from './field-differences.ts';

/** Carries changes out and shows them; the server judges all of them before the first one is done. */
export async function carryOutAll(io: CommandIo, changes: readonly DocumentChange[], dryRun: boolean): Promise<void> {
  for (const change of changes) await change.carryOut({ dry_run: true });
  if (!dryRun) for (const change of changes) await change.carryOut({});
  showChanges(io, changes);
  const done = changes.filter(({ kind }) => kind !== 'unchanged' && kind !== 'differs').length;
  io.remark(dryRun ? `${done} would be applied; nothing was done.` : `${done} applied.`);
}

const SIGNS = { create: '+', change: '~', delete: '-', differs: '!', unchanged: '=' } as const;

/** Shows what each document changes. */
export function showChanges(io: CommandIo, changes: readonly DocumentChange[]): void {
  const told = changes.map(({ what, kind, differences, remark }) => ({ what, change: kind, differences, remark }));
  io.answer(told, () => changes.map(textOf).join(''));
}

function textOf({ what, kind, differences, remark }: DocumentChange): string {
  const line = `${SIGNS[kind]} ${what}: ${kind}${remark === null ? '' : ` (${remark})`}`;
  return `${[line, ...differenceLines(differences)].join('\n')}\n`;
}
