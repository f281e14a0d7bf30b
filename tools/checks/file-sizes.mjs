import { readText, trackedFiles } from './tracked-files.mjs';

const LIMIT = 300;
const LIST = 'docs/file-sizes.md';
const CODE = /\.(?:ts|tsx|mjs|go|sql|proto|sh|md)$/;
const GENERATED = /\/(?:gen|generated)\/|^packages\/controlplane\/src\/db\/schema\.sql$/;

/** Files written by hand that are over the limit without a reason in docs/file-sizes.md, and reasons nobody needs any more. */
export async function findOversizedFiles() {
  const long = await longFiles();
  const reasons = readReasons();
  const complaints = [
    ...long
      .filter(({ file }) => !reasons.has(file))
      .map(({ file, count }) => `${file} has ${count} lines: split it, or give its reason in ${LIST}.`),
    ...[...reasons]
      .filter(([file]) => !long.some((entry) => entry.file === file))
      .map(([file]) => `${LIST} excuses ${file}, which isn't over ${LIMIT} lines any more: remove its row.`),
  ];
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

async function longFiles() {
  const files = (await trackedFiles()).filter((file) => CODE.test(file) && !GENERATED.test(file));
  return files
    .map((file) => ({ file, count: (readText(file) ?? '').trimEnd().split('\n').length }))
    .filter(({ count }) => count > LIMIT);
}

/** The table's rows: | `path` | reason | */
function readReasons() {
  const rows = (readText(LIST) ?? '').matchAll(/^\|\s*`([^`]+)`\s*\|\s*(\S.*?)\s*\|$/gm);
  return new Map([...rows].map(([, file, reason]) => [file, reason]));
}
