import { expect, it } from 'vitest';
import { rolloutNodeView, rolloutView } from '../testing/sample-views.ts';
import { renderProgressLine } from './progress-line.ts';

it('says in one line for pipes how far it is, who moves and why it waits', () => {
  const done = rolloutNodeView({ status: 'succeeded', upgrade_phase: 'COMPLETED' });
  const moving = rolloutNodeView({
    node_name: 'validator-2',
    status: 'in_progress',
    upgrade_phase: 'PREPARING',
    height: 9,
  });
  expect(renderProgressLine(rolloutView(), [done, moving])).toBe(
    'running: 1 of 4 succeeded, 0 failed · validator-2 PREPARING · chain height 9 · Being upgraded: 1 node (batch 0).',
  );
});
