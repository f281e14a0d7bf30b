import { run as runTests } from './test.mjs';

/**
 * `test:crash [--all] [vitest arguments]`: the whole crash matrix, of which `npm test` runs a sample; with `--all` every
 * system call of an upgrade and of an undo is harmed in every way too, which takes a good while (docs/testing.md).
 */
export function run(args) {
  process.env.HOODCLOUD_CRASH = args.includes('--all') ? 'all' : 'matrix';
  return runTests(['crash', ...args.filter((word) => word !== '--all')]);
}
