import { expect, test } from 'vitest';
import { askAgainInMs, freeInSeconds } from './node-duty.ts';

test.each([
  ['', null],
  ['free_in_seconds=340', 340],
  ['free_in_seconds=12.5\r\n', 12.5],
  ['slot 7\nfree_in_seconds=340\nslot 8\nfree_in_seconds=328\n', 328],
  ['it is free_in_seconds=340', null],
  ['free_in_seconds=-1', null],
  ['free_in_seconds=soon', null],
])('of a program that says %j it is free in %s', (output, seconds) => {
  expect(freeInSeconds(output)).toBe(seconds);
});

test('it is asked again when it is foreseen to be free, between one second and a minute', () => {
  expect([null, 0, 5, 600].map(askAgainInMs)).toEqual([10_000, 1_000, 5_000, 60_000]);
});
