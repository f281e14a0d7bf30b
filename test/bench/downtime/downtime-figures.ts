import { type Figure, median } from '../figures.ts';
import { type Downtimes, PRODUCT } from './measure-downtime.ts';

const GOAL = 1.1;

/**
 * One figure: the product's downtime ÷ that of the one way by hand, median over the pairs of a round.
 * @param name as docs/performance.md knows it
 */
export function swapFigures(name: string, goal: number, seen: Downtimes): Figure[] {
  const product = seen.get(PRODUCT) ?? [];
  const [rival] = [...seen].filter(([way]) => way !== PRODUCT);
  if (!rival) throw new Error('there is nobody to compare with');
  const [way, values] = rival;
  const ratio = median(product.map((own, round) => own / (values[round] ?? Number.NaN)));
  const of = { runs: product.length, better: 'lower' } as const;
  const told = { [way]: Math.round(median(values)), product_ms: Math.round(median(product)) };
  return [{ ...of, name, value: ratio, unit: '×', goal, rival: `${way} ${Math.round(median(values))} ms`, ...told }];
}

/**
 * Medians of each way, and the product beside each way by hand: by medians, and by the median over the pairs of a round.
 * Held to the goal is what operators do by hand, the first way.
 * @param runtime stands in front of every name
 */
export function downtimeFigures(runtime: string, seen: Downtimes): Figure[] {
  const product = seen.get(PRODUCT) ?? [];
  const details = { rounds: product.length, better: 'lower' } as const;
  const times = [...seen].map(
    ([way, values]): Figure => ({ name: `${runtime}_downtime_${way}`, value: median(values), unit: 'ms', ...details }),
  );
  const byHand = [...seen].filter(([way]) => way !== PRODUCT);
  const ratios = byHand.flatMap(([way, values], index): Figure[] => {
    const goal = index === 0 ? { goal: GOAL } : {};
    const ofPairs = median(product.map((own, round) => own / (values[round] ?? Number.NaN)));
    const ratio = { unit: 'ratio', ...goal, ...details } as const;
    const name = `${runtime}_downtime_ratio_to_${way}`;
    return [
      { name: `${name}_of_medians`, value: median(product) / median(values), ...ratio },
      { name, value: ofPairs, ...ratio },
    ];
  });
  return [...times, ...ratios];
}
