import { expect, it } from 'vitest';
import { tellingLine, tellingLines } from './telling-line.ts';

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

const stack = Array.from({ length: 40 }, (_, index) => `\tmain.go:${index}`);
const panicked = ['opening the database', 'panic: L0: file 48 is unknown', '', 'goroutine 1 [running]:', ...stack];

it.each([
  ['a panic from its cause on, however long the stack below it', panicked, 5, panicked.slice(1, 6)],
  ['the last lines where no panic is', ['one', 'two', 'three'], 2, ['two', 'three']],
  ['all where a panic is among the last', ['one', 'panic: x', 'bye'], 20, ['one', 'panic: x', 'bye']],
  ['nothing of an empty log', [], 20, []],
])('of a log are told %s', (_, lines, most, told) => {
  expect(tellingLines(lines, most)).toEqual(told);
});
