import { run as runTests } from './test.mjs';

/**
 * `test:crash [--all [--share 2/5]] [vitest arguments]`: the whole crash matrix, of which `npm test` runs a sample; with
 * `--all` every system call of an upgrade and of an undo is harmed in every way too, which takes a good while, or the
 * second of five shares of that (docs/testing.md).
 */
export function run(args) {
  process.env.HOODCLOUD_CRASH = args.includes('--all') ? 'all' : 'matrix';
  const rest = args.filter((word) => word !== '--all');
  const share = rest.indexOf('--share');
  if (share !== -1) process.env.HOODCLOUD_CRASH_SHARE = rest.splice(share, 2)[1] ?? '';
  return runTests(['crash', ...rest]);
}
