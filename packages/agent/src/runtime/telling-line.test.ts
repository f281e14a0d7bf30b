import { expect, it } from 'vitest';
import { tellingLine } from './telling-line.ts';

it.each([
  [['start', 'panic: L0: file unknown', 'goroutine 1 [running]:', 'main.main()', '\tmain.go:12 error +0x1d'], 1],
  [['INF starting', 'ERROR: While parsing config: toml: expected =', 'bye'], 1],
  [['panic: bad data', 'node starts'], 0],
  [['one', 'two'], 1],
])('of %o tells most', (lines, index) => {
  expect(tellingLine(lines)).toBe(lines[index]);
});

it('is nothing for a program that wrote nothing', () => {
  expect(tellingLine([])).toBeUndefined();
});
