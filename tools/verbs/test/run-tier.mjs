import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from '../../bootstrap/paths.mjs';
import { runVisible } from '../../bootstrap/run-command.mjs';

/**
 * Runs one vitest project, showing its own output live, and counts from its JSON report.
 * @returns {Promise<{ tier: string, passed: number, failed: number, skipped: number, seconds: number, failures?: string[], note?: string }>}
 */
export async function runTier(tier, vitestArgs) {
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-test-'));
  const report = join(folder, 'report.json');
  const started = Date.now();
  try {
    const { code } = await runVisible(process.execPath, [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--project', tier, '--passWithNoTests'],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      ...vitestArgs,
    ]);
    return { tier, seconds: (Date.now() - started) / 1000, ...count(report, code) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Counts tests. A file that failed to load holds no test and a run can end badly after its last test; each of these
 * counts as one failure, so that a red run never reads "0 failed".
 */
export function count(report, exitCode) {
  if (!existsSync(report)) {
    // vitest writes no report when a filter matched no file
    return exitCode === 0
      ? { passed: 0, failed: 0, skipped: 0, failures: [] }
      : { passed: 0, failed: 1, skipped: 0, failures: [], note: 'vitest ended without a report' };
  }
  const { testResults, numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const brokenFiles = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = numFailedTests + brokenFiles.length;
  const failures = [...testResults.flatMap(failuresOf), ...brokenFiles.map(brokenFile)];
  const counted = { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests, failures };
  if (failed > 0 || exitCode === 0) return counted;
  return { ...counted, failed: 1, note: `vitest ended with ${exitCode} though every test passed` };
}

/** One line a failed test: where it is, its name, what it said first. */
function failuresOf({ name, assertionResults }) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  return failed.map(
    ({ fullName, failureMessages }) =>
      `${relative(ROOT, name)} > ${fullName}: ${firstLine(failureMessages.join('\n'))}`,
  );
}

function brokenFile({ name, message }) {
  return `${relative(ROOT, name)}: ${firstLine(message)}`;
}

function firstLine(text) {
  return (text ?? '').trim().split('\n', 1)[0].slice(0, 300);
}
