import type { EventView } from '@hoodcloud/contracts/http/events';
import { render } from 'ink-testing-library';
import { createElement } from 'react';
import { describe, expect, it } from 'vitest';
import { reasonView, rolloutNodeView, rolloutView } from '../testing/sample-views.ts';
import { RolloutScreen, type RolloutScreenState } from './rollout-screen.tsx';
import { ScreenStore } from './screen-store.ts';

const now = new Date('2026-01-01T00:01:05Z');
const SIZE = { columns: 100, rows: 24 };
const moving = rolloutNodeView({
  node_id: 'b',
  node_name: 'validator-2',
  batch_index: 1,
  status: 'in_progress',
  upgrade_phase: 'PREPARING',
  phase_changed_at: '2026-01-01T00:00:53Z',
  why: [reasonView('command_begins', { operation: 'UPGRADE', since: 'now' })],
});
const done = rolloutNodeView({ status: 'succeeded', upgrade_phase: 'COMPLETED', why: [reasonView('health_passed')] });
const paused = { actor: 'key:anna', why: 'the disk alarm' };
const event = {
  kind: 'rollout_control_ordered',
  actor: 'key:anna',
  data: { control: 'pause', reason: 'the disk alarm' },
};

function screen(differs: Partial<RolloutScreenState> = {}, colours = false) {
  const store = new ScreenStore<RolloutScreenState>({
    rollout: rolloutView({ why: [reasonView('paused_by_operator', paused)] }),
    nodes: [done, moving],
    events: [],
    trouble: null,
    now,
    ...differs,
  });
  const seen = { left: 0, sight: [] as readonly string[] };
  const view = createElement(RolloutScreen, {
    store,
    colours,
    size: SIZE,
    onLeave: () => {
      seen.left += 1;
    },
    onSight: (ids) => {
      seen.sight = ids;
    },
  });
  return { store, seen, ...render(view) };
}

const thousands = Array.from({ length: 10_000 }, (_, at) =>
  rolloutNodeView({ node_id: `n${at}`, node_name: `node-${String(at).padStart(5, '0')}`, batch_index: at % 100 }),
);

describe('the full screen of a rollout', () => {
  it('shows head, batches, threshold, why, each node with its time, and the last events', () => {
    const events = [
      {
        severity: 'info',
        reason: null,
        node_name: null,
        subject_type: 'rollout',
        occurred_at: now.toISOString(),
        ...event,
      },
    ];
    const lines =
      screen({ events: events as unknown as EventView[] })
        .lastFrame()
        ?.split('\n') ?? [];
    expect(lines[0]).toBe('noded the version each node has → v2 · demo · canary · running 1 min 5 s');
    expect(lines[2]).toBe('[canary █] [1 ▶]');
    expect(lines).toEqual(
      expect.arrayContaining([
        'Failures 0 of 0 attempted: 0 %, limit 0 %',
        'Paused by key:anna: the disk alarm',
        'What to do: Ask whoever paused it, then resume it.',
        expect.stringMatching(/^validator-2 +1 +in_progress +PREPARING 12 s +The agent acknowledged/),
        expect.stringMatching(/rollout +ordered: pause: “the disk alarm”/),
        'q leave · ↑↓ PgUp PgDn scroll · ? help',
      ]),
    );
  });

  it('never draws more lines, nor wider ones, than the terminal has', () => {
    const lines = screen({ nodes: thousands }).lastFrame()?.split('\n') ?? [];
    expect(lines.length).toBe(SIZE.rows - 1);
    expect(Math.max(...lines.map((text) => text.length))).toBeLessThanOrEqual(SIZE.columns);
  });

  it('makes only the rows in sight of ten thousand, scrolls by keys, and says which rows it has', async () => {
    const { stdin, lastFrame, seen } = screen({ nodes: thousands });
    await expect.poll(() => seen.sight.length).toBeGreaterThan(3);
    expect(seen.sight.length).toBeLessThan(SIZE.rows);
    stdin.write('G');
    await expect.poll(() => lastFrame()).toContain('of 10000');
    await expect.poll(() => lastFrame()).toContain('node-09999');
    await expect.poll(() => seen.sight.at(-1)).toBe('n9999');
  });

  it('draws nothing in colour when they are not wanted (NO_COLOR)', () => {
    expect(screen({ nodes: [rolloutNodeView({ status: 'failed' })] }).lastFrame()).not.toContain('\x1b[');
  });

  it('leaves by q and by Ctrl-C, and helps by ?', async () => {
    const { stdin, lastFrame, seen } = screen();
    await expect.poll(() => seen.sight.length).toBe(2); // keys are heard from then on
    stdin.write('?');
    await expect.poll(() => lastFrame()).toContain('the rollout goes on on the server');
    stdin.write('q');
    await expect.poll(() => seen.left).toBe(1);
    stdin.write('\x03');
    await expect.poll(() => seen.left).toBe(2);
  });

  it('says that it is not live while the server is away', () => {
    expect(screen({ trouble: 'it is away. Trying again.' }).lastFrame()).toContain(
      'Not live: it is away. Trying again.',
    );
  });
});
