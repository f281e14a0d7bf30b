import { GENERATORS } from '../generate/generators.mjs';
import { readText, trackedFiles } from './tracked-files.mjs';

const LIMIT = 300;
const LIST = 'docs/file-sizes.md';
const CODE = /\.(?:ts|tsx|mjs|go|sql|proto|sh|md)$/;

/** Files written by hand that are over the limit without a reason in docs/file-sizes.md, and reasons nobody needs any more. */
export async function findOversizedFiles() {
  const complaints = judgeSizes(await longFiles(), readReasons(readText(LIST) ?? ''));
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

/**
 * @param {{ file: string, count: number }[]} long files over the limit
 * @param {Map<string, string>} reasons file → why it is one file
 */
export function judgeSizes(long, reasons) {
  const unexcused = long.filter(({ file }) => !reasons.has(file));
  const needless = [...reasons.keys()].filter((file) => !long.some((entry) => entry.file === file));
  return [
    ...unexcused.map(({ file, count }) => `${file} has ${count} lines: split it, or give its reason in ${LIST}.`),
    ...needless.map((file) => `${LIST} excuses ${file}, which isn't over ${LIMIT} lines any more: remove its row.`),
  ];
}

async function longFiles() {
  const files = (await trackedFiles()).filter((file) => CODE.test(file) && !isGenerated(file));
  return files
    .map((file) => ({ file, count: (readText(file) ?? '').trimEnd().split('\n').length }))
    .filter(({ count }) => count > LIMIT);
}

function isGenerated(file) {
  return GENERATORS.some(({ outputs }) => outputs.some((output) => file === output || file.startsWith(`${output}/`)));
}

/** The table's rows: | `path` | reason | */
export function readReasons(text) {
  const rows = text.matchAll(/^\|\s*`([^`]+)`\s*\|\s*(\S.*?)\s*\|$/gm);
  return new Map([...rows].map(([, file, reason]) => [file, reason]));
}
