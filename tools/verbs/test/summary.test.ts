import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ROOT } from '../../bootstrap/paths.mjs';
import { count } from './run-tier.mjs';
import { printSummary, totals } from './summary.mjs';

const green = { tier: 'unit', passed: 5, failed: 0, skipped: 0, seconds: 1 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hoodcloud-summary-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function report(content: object): string {
  const path = join(folder, 'report.json');
  writeFileSync(
    path,
    JSON.stringify({
      numPassedTests: 0,
      numFailedTests: 0,
      numPendingTests: 0,
      numTodoTests: 0,
      testResults: [],
      ...content,
    }),
  );
  return path;
}

it('in CI a skipped test, an empty tier and a tier left out each count as failed', () => {
  const skipping = { ...green, skipped: 2 };
  const empty = { ...green, passed: 0 };
  expect(totals([green, skipping, empty], { strict: true })).toMatchObject({ passed: 10, failed: 3 });
  expect(totals([green, skipping, empty], { strict: false })).toMatchObject({ passed: 10, failed: 0 });
});

it('ends with the line machines read, alone on its line', () => {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void lines.push(text));
  printSummary([green, { ...green, failed: 1, tier: 'db' }], { strict: false });
  log.mockRestore();
  expect(lines.join('\n').split('\n').at(-1)).toBe('10 passed, 1 failed');
});

it('names each failed test with the first line of what it said, below a log that may be cut', () => {
  const failed = { status: 'failed', fullName: 'a fault > a cell', failureMessages: ['Error: left over\n  at x.ts'] };
  const file = { name: join(ROOT, 'test/a.test.ts'), status: 'failed', assertionResults: [failed] };
  const { failures } = count(report({ numFailedTests: 1, testResults: [file] }), 1);
  expect(failures).toEqual(['test/a.test.ts > a fault > a cell: Error: left over']);
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void lines.push(text));
  printSummary([{ ...green, tier: 'crash', failed: 1, failures }], { strict: false });
  log.mockRestore();
  expect(lines.join('\n')).toContain('crash  test/a.test.ts > a fault > a cell: Error: left over');
});

it('counts a file that failed to load as one failure', () => {
  const broken = {
    name: join(ROOT, 'test/b.test.ts'),
    message: 'no such module',
    status: 'failed',
    assertionResults: [],
  };
  expect(count(report({ numPassedTests: 3, testResults: [broken] }), 1)).toMatchObject({ passed: 3, failed: 1 });
});

it('never reads "0 failed" when vitest itself ended badly', () => {
  expect(count(report({ numPassedTests: 3 }), 1)).toMatchObject({ passed: 3, failed: 1 });
  expect(count(join(folder, 'no-report.json'), 1)).toMatchObject({ failed: 1 });
  expect(count(join(folder, 'no-report.json'), 0)).toMatchObject({ failed: 0 });
});
