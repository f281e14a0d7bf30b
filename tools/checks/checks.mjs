import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { GENERATORS } from '../generate/generators.mjs';
import { isApplicable } from '../generate/run-generator.mjs';
import { findOversizedFiles } from './file-sizes.mjs';
import { findStaleGenerated } from './generated.mjs';
import { findStaleMutants } from './mutants.mjs';
import { findLockAddresses, findMachinePaths } from './portable.mjs';

const script = (path) => join(ROOT, 'node_modules', path);

/** Its linter else tells its makers about each run and asks for news. */
const QUIET_REDOCLY = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** A check that is a program: its output is the complaint when it doesn't end with 0. */
const program =
  (path, ...args) =>
  async () => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...QUIET_REDOCLY };
    const { code, output } = await runCollected(process.execPath, [script(path), ...args], { env });
    return code === 0 ? undefined : output;
  };

/**
 * The checks in the order they run, the quick ones first. `find` answers what is wrong, in words, or undefined.
 * @type {{ name: string, what: string, find: () => Promise<string | undefined>, stores?: boolean }[]}
 */
export const CHECKS = [
  { name: 'biome', what: 'format and lint', find: program('@biomejs/biome/bin/biome', 'check', '.') },
  { name: 'types', what: 'tsc, strict', find: program('typescript/bin/tsc', '-p', 'tsconfig.json') },
  {
    name: 'types-web',
    what: 'tsc over the dashboard, which runs in browsers',
    find: program('typescript/bin/tsc', '-p', 'packages/dashboard/tsconfig.json'),
  },
  { name: 'unused', what: 'code and dependencies nobody uses (knip)', find: program('knip/bin/knip.js') },
  {
    name: 'imports',
    what: 'who may import whom',
    find: program('vitest/vitest.mjs', 'run', '--project', 'unit', 'test/architecture'),
  },
  {
    name: 'generated',
    what: 'generated files are fresh',
    find: findStaleGenerated,
    stores: GENERATORS.some((it) => it.stores && isApplicable(it)),
  },
  { name: 'mutants', what: 'mutants apply and their tests exist', find: findStaleMutants },
  {
    name: 'specification',
    what: 'each item of the specification has a test that is there',
    find: async () => {
      const { specCoverage } = await import('../spec-coverage/spec-coverage.mjs'); // needs what set-up installs
      const { missing, broken } = specCoverage();
      return [...broken, ...missing.map(({ item }) => `no test: ${item.id}`)].join('\n') || undefined;
    },
  },
  {
    name: 'proto',
    what: 'the agent’s protocol is in good form (buf lint)',
    find: program('@bufbuild/buf/bin/buf', 'lint', 'packages/contracts'),
  },
  {
    name: 'openapi',
    what: 'the API’s document is in good form (redocly lint)',
    find: program(
      '@redocly/cli/bin/cli.js',
      'lint',
      'packages/contracts/openapi.json',
      '--extends',
      'recommended-strict',
    ),
  },
  { name: 'file-sizes', what: 'files over 300 lines have a reason', find: findOversizedFiles },
  { name: 'lock', what: 'the lock file names no download addresses', find: findLockAddresses },
  { name: 'portable', what: 'no paths or addresses of somebody’s machine', find: findMachinePaths },
];
