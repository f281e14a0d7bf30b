import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCollected } from '../bootstrap/run-command.mjs';

/**
 * Runs the named test without and with the mutant's patch.
 * @param {Map<string, object>} baselines what was seen without a patch, by test, so that it runs once
 * @returns {Promise<{ killed: boolean, why: string }>} killed: the test passes on our code and fails on the mutant
 */
export async function judgeMutant(mutant, copy, baselines) {
  const key = `${mutant.file} ${mutant.test}`;
  if (!baselines.has(key)) baselines.set(key, await runTest(mutant, copy));
  const before = baselines.get(key);
  if (before.status !== 'passed') return { killed: false, why: `the test ${before.why} without the patch` };
  const applied = await runCollected('git', ['apply', '--whitespace=nowarn', mutant.path], { cwd: copy });
  if (applied.code !== 0)
    return { killed: false, why: `the patch no longer applies: ${applied.output.trim().split('\n')[0]}` };
  const after = await runTest(mutant, copy);
  const undone = await runCollected('git', ['apply', '-R', '--whitespace=nowarn', mutant.path], { cwd: copy });
  if (undone.code !== 0) throw new Error(`${mutant.name} could not be undone:\n${undone.output}`);
  const why = after.status === 'failed' ? after.why : `the test ${after.why} with the patch`;
  return { killed: after.status === 'failed', why };
}

/** @returns {Promise<{ status: 'passed' | 'failed' | 'absent', why: string }>} how the named test itself ended */
async function runTest({ tier, file, test }, copy) {
  const report = join(copy, 'mutant-report.json');
  rmSync(report, { force: true });
  const { code, output } = await runCollected(
    process.execPath,
    [
      join(copy, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--root', copy, '--project', tier, file, '--testNamePattern', escapeRegExp(test)],
      ...['--reporter=json', `--outputFile.json=${report}`],
    ],
    { cwd: copy, env: { ...process.env, NO_COLOR: '1' } },
  );
  if (!existsSync(report))
    return { status: 'absent', why: `left no report (vitest ended with ${code}: ${lastLine(output)})` };
  const found = JSON.parse(readFileSync(report, 'utf8'))
    .testResults.flatMap(({ assertionResults }) => assertionResults)
    .find(({ title, fullName }) => title === test || fullName === test);
  if (!found) return { status: 'absent', why: `is not in ${file}` };
  if (found.status === 'passed') return { status: 'passed', why: 'passes' };
  if (found.status !== 'failed') return { status: 'absent', why: `is ${found.status}` };
  return { status: 'failed', why: (found.failureMessages[0] ?? 'failed').split('\n')[0] };
}

const escapeRegExp = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const lastLine = (text) => text.trimEnd().split('\n').at(-1) ?? '';
