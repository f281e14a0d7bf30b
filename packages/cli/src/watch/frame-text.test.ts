import { expect, it } from 'vitest';
import { reasonView, rolloutNodeView, rolloutView } from '../testing/sample-views.ts';
import { renderFrame, renderProgressLine } from './frame-text.ts';

const now = new Date('2026-01-01T00:01:05Z');
const command = { operation: 'UPGRADE', status: 'acknowledged', action_index: 1, progress_pct: 40, at: null } as const;
const moving = rolloutNodeView({
  node_name: 'validator-2',
  batch_index: 1,
  status: 'in_progress',
  upgrade_phase: 'PREPARING',
  height: 9,
  command: { ...command, action_name: 'acquire_artifact', note: '10 of 26 MB' },
});
const done = rolloutNodeView({ status: 'succeeded', upgrade_phase: 'COMPLETED' });

it('shows what, how far, each node and what it does', () => {
  const rollout = rolloutView({
    waiting: { kind: 'wait', until: null, reasons: [reasonView('nodes_in_flight', { count: 1, batch: 1 })] },
  });
  expect(renderFrame(rollout, [done, moving], now, 120)).toBe(
    [
      'noded the version each node has → v2 · demo · canary · running 1 min 5 s',
      '██████░░░░░░░░░░░░░░░░░░ 1 of 4 succeeded, 0 failed · chain height 9',
      'NODE         BATCH   STATUS       PHASE      HEIGHT  WHAT',
      'validator-1  canary  succeeded    COMPLETED  7       -',
      'validator-2  1       in_progress  PREPARING  9       acquire_artifact 40 % (10 of 26 MB)',
      'Being upgraded: 1 node (batch 1).',
    ].join('\n'),
  );
});

it('never draws a line wider than the terminal', () => {
  const lines = renderFrame(rolloutView(), [done, moving], now, 40).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBe(40);
});

it('of many nodes shows those in flight and those that failed first', () => {
  const pending = Array.from({ length: 30 }, (_, index) => rolloutNodeView({ node_name: `idle-${index}` }));
  const failed = rolloutNodeView({ node_name: 'broken', status: 'failed' });
  const frame = renderFrame(rolloutView(), [...pending, failed, moving], now, 120).split('\n');
  expect(frame[3]).toContain('validator-2');
  expect(frame[4]).toContain('broken');
  expect(frame.at(-1)).toBe('… and 12 more: hoodctl rollout nodes');
});

it('says the same in one line for pipes', () => {
  expect(renderProgressLine(rolloutView(), [done, moving])).toBe(
    'running: 1 of 4 succeeded, 0 failed · validator-2 PREPARING · chain height 9',
  );
});
