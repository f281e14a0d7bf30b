import { expect, it } from 'vitest';
import { median, meetsGoal, percentile } from './figures.ts';
import { withFigures } from './keep-figures.ts';

it('takes the middle of an odd and the mean of an even number of values', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(() => median([])).toThrow('no median');
});

it('takes a percentile by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(percentile(hundred, 0.95)).toBe(95);
  expect(percentile([7], 0.99)).toBe(7);
  expect(() => percentile([], 0.5)).toThrow('no percentile');
});

it('judges a figure by the side of its goal that is good', () => {
  const figure = { name: 'ratio', unit: '×', goal: 1.1 };
  expect(meetsGoal({ ...figure, value: 1.1, better: 'lower' })).toBe(true);
  expect(meetsGoal({ ...figure, value: 1.11, better: 'lower' })).toBe(false);
  expect(meetsGoal({ ...figure, value: 1.09, better: 'higher' })).toBe(false);
  expect(meetsGoal({ name: 'seen', unit: 's', value: 9, better: 'lower' })).toBe(true);
});

it('keeps the newest figure of a name, and the others as they were', () => {
  const of = { unit: 's', better: 'lower' as const };
  const kept = withFigures(
    [],
    [
      { ...of, name: 'stop', value: 1 },
      { ...of, name: 'start', value: 2 },
    ],
    'old machine',
  );
  const again = withFigures(kept, [{ ...of, name: 'start', value: 1.23456789 }], 'new machine');
  expect(again.map(({ name, value, machine }) => [name, value, machine])).toEqual([
    ['start', 1.2346, 'new machine'],
    ['stop', 1, 'old machine'],
  ]);
});
