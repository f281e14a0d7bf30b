import { soak } from '../faults/soak.ts';
import { type Figure, printFigures } from './figures.ts';

/**
 * Rollout after rollout over a simulated fleet, while every role, Postgres and Temporal are killed at random: what was done
 * twice, which events were lost, which rows say otherwise than agents, and the most that each role held.
 * `npm run bench -- soak [MINUTES] [SEED]`: 10 minutes and seed 1 unless said otherwise; hours by hand.
 */
const minutes = Number(process.argv[2] ?? 10);
const seed = process.argv[3] ?? '1';

const seen = await soak({ minutes, seed });
const of = { better: 'lower', minutes, seed } as const;
const zero = (name: string, value: number): Figure => ({ ...of, name, value, unit: '', goal: 0 });
printFigures([
  zero('soak_double_commands', seen.doubleCommands),
  zero('soak_lost_events', seen.lostEvents),
  zero('soak_rows_that_disagree', seen.disagreeing),
  { ...of, name: 'soak_kills', value: seen.kills, unit: 'kills' },
  { ...of, name: 'soak_rollouts', value: seen.rollouts, unit: 'rollouts' },
  { ...of, name: 'soak_upgrades', value: seen.upgrades, unit: 'upgrades' },
  { ...of, name: 'soak_events', value: seen.events, unit: 'events' },
  { ...of, name: 'soak_peak_connections', value: seen.peakConnections, unit: 'connections' },
  ...Object.entries(seen.peakRssMb).map(
    ([role, value]): Figure => ({ ...of, name: `soak_${role}_peak_rss`, value, unit: 'MB' }),
  ),
  ...Object.entries(seen.peakHandles).map(
    ([role, value]): Figure => ({ ...of, name: `soak_${role}_peak_handles`, value, unit: 'handles' }),
  ),
]);
