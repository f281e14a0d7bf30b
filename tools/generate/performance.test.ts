import { expect, it } from 'vitest';
import { growthPlot, seriesOf } from './growth-plot.mjs';
import { missedSections, performancePage } from './performance-page.mjs';

const GOAL = { what: 'the swap ÷ the floor', goal: '≤ 2', bench: 'swap', figures: ['swap_ratio'] };
const kept = (value: number) => ({
  swap: [{ name: 'swap_ratio', value, unit: '×', goal: 2, better: 'lower', runs: 5, floor: 1 } as const].map(
    (figure) => ({ ...figure, taken_on: '2026-12-01', machine: 'a machine', load_at_start: 0.1 }),
  ),
});

it('says of each goal whether it is met, missed or not measured', () => {
  const verdict = (results: Record<string, unknown>) =>
    performancePage([GOAL], results, [], '', 'The rest.').split('\n')[9];
  expect(verdict(kept(1.5))).toBe('| the swap ÷ the floor | ≤ 2 | 1.5 × (floor 1, 5 runs) | met | `swap` |');
  expect(verdict(kept(2.5))).toContain('| **missed** |');
  expect(verdict({})).toContain('| - | not measured |');
});

it('wants a reason for a goal that is missed', () => {
  expect(() => missedSections([GOAL], kept(2.5))).toThrow('swap_ratio misses its goal');
  expect(missedSections([{ ...GOAL, missed: 'The disk.' }], kept(2.5))).toContain('The disk.');
  expect(missedSections([{ ...GOAL, missed: 'The disk.' }], kept(1))).toBe('');
});

it('draws what is ten times as large a decade higher', () => {
  const figures = [10, 100, 1000].map((size) => ({ name: `plan_${size}`, value: size / 10 }));
  const lines = seriesOf([...figures, { name: 'plan_p95_10', value: 1 }], ['plan', 'create']);
  expect(lines).toEqual([
    {
      name: 'plan',
      points: [
        [10, 1],
        [100, 10],
        [1000, 100],
      ],
    },
  ]);
  expect(growthPlot({ title: 'Plan', unit: 'ms', lines })).toContain('points="70,275 280,157.5 490,40"');
});
