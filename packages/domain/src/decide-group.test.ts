import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEndedGroup } from './group-snapshot.ts';
import type { RolloutGroupControlKind } from './rollout-group-control.ts';
import { FAILURE_POLICIES, type FailurePolicy } from './rollout-group-status.ts';
import { isEndedRollout } from './rollout-status.ts';
import { GroupWorld, type RolloutStep } from './testing/group-world.ts';

type Move = RolloutStep | RolloutGroupControlKind | 'time';
const STEPS: readonly RolloutStep[] = ['node', 'complete', 'fail', 'obey', 'heal'];
const ORDERS: readonly RolloutGroupControlKind[] = ['pause', 'resume', 'cancel', 'rollback', 'skip'];
const MOVES: readonly Move[] = [...STEPS, ...ORDERS, 'time'];

/** Past the gate's time of the small world. */
const LONG = 200;

/** @returns whether the move was possible; the world has settled then */
function move(world: GroupWorld, what: Move): boolean {
  world.now += what === 'time' ? LONG : 1;
  const done =
    what === 'time' ||
    (STEPS.includes(what as RolloutStep)
      ? world.step(what as RolloutStep)
      : world.order(what as RolloutGroupControlKind));
  if (done) world.settle();
  return done;
}

function started(policy: FailurePolicy, size: number): GroupWorld {
  const world = new GroupWorld(policy, size);
  move(world, 'start');
  return world;
}

/** What must hold after every move, whatever came before. */
function check(world: GroupWorld, before: GroupWorld): void {
  const active = world.components.filter(({ rollout }) => rollout && !isEndedRollout(rollout.status));
  expect(active.length, 'one component at a time (C2)').toBeLessThanOrEqual(1);
  if (isEndedGroup(world.group.status)) expect(active, 'an ended group leaves nothing running').toEqual([]);
  const { policy, canceled, back } = {
    policy: before.group.failurePolicy,
    canceled: before.controls.findLast(({ kind }) => kind === 'cancel' || kind === 'rollback')?.kind === 'cancel',
    back: before.group.direction === 'rollback',
  };
  for (const event of world.events.slice(before.events.length)) {
    if (event.kind === 'started') {
      expect(event.wellBefore, 'a component begins only behind an open gate').toBe(true);
      expect(canceled || back, 'nothing begins after a cancel or on the way back').toBe(false);
      const earlier = world.components.slice(0, event.index);
      const failed = earlier.filter(({ rollout }) => rollout?.status === 'failed');
      if (policy === 'partial_ok') expect(failed.filter(({ index }) => !isSkipped(world, index))).toEqual([]);
    } else {
      const later = world.components.slice(event.index + 1);
      const standing = later.filter(({ rollout }) => (rollout?.succeededNodes ?? 0) > 0);
      expect(standing, 'components go back in reverse order (C10)').toEqual([]);
    }
  }
}

function isSkipped(world: GroupWorld, index: number): boolean {
  return world.controls.some(({ kind, componentIndex }) => kind === 'skip' && componentIndex === index);
}

/** Brings a world to its end as people and time would; fails when it can not end. */
function end(world: GroupWorld): void {
  for (let moves = 0; moves < 60; moves += 1) {
    if (isEndedGroup(world.group.status)) return;
    const well: readonly Move[] = ['obey', 'heal', 'node', 'complete', 'resume', 'skip', 'cancel'];
    if (!well.some((what) => move(world, what))) break;
  }
  expect.fail(`the group can't end: ${JSON.stringify(world.snapshot())}`);
}

/** A state without its absolute times: only their order decides. */
function keyOf(world: GroupWorld): string {
  const text = JSON.stringify([world.group, world.components, world.controls.map(({ id: _, ...rest }) => rest)]);
  const late = world.now - LONG;
  const times = [...new Set([...text.matchAll(/\d{4,}/g)].map(([time]) => Number(time)))].sort((a, b) => a - b);
  return text.replace(/\d{4,}/g, (time) => `${times.indexOf(Number(time))}${Number(time) < late ? 'late' : ''}`);
}

/** Every state that so many moves reach, each checked and each able to end. */
function walk(policy: FailurePolicy, depth: number): { states: number; moves: number; statuses: Set<string> } {
  const seen = new Set<string>();
  const statuses = new Set<string>();
  let layer = [started(policy, 2)];
  let moves = 0;
  for (let deep = 0; deep < depth; deep += 1) {
    const next: GroupWorld[] = [];
    for (const before of layer) {
      for (const what of MOVES) {
        const world = before.copy();
        if (!move(world, what)) continue;
        moves += 1;
        check(world, before);
        const key = keyOf(world);
        if (seen.has(key)) continue;
        seen.add(key);
        statuses.add(world.group.status);
        end(world.copy());
        next.push(world);
      }
    }
    layer = next;
  }
  return { states: seen.size, moves, statuses };
}

describe('every state of a group of two components', () => {
  test.each(FAILURE_POLICIES)('is safe and can end, whatever people and nodes do (%s)', (policy) => {
    const { states, statuses } = walk(policy, 5);
    expect(states).toBeGreaterThan(300);
    expect([...statuses]).toEqual(expect.arrayContaining(['running', 'paused', 'canceled', 'completed']));
  });
});

test('long histories of three components are safe and can end', () => {
  const moves = fc.array(fc.constantFrom(...MOVES), { minLength: 5, maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...FAILURE_POLICIES), moves, (policy, history) => {
      const world = started(policy, 3);
      for (const what of history) {
        const before = world.copy();
        if (move(world, what)) check(world, before);
      }
      end(world);
    }),
    { numRuns: 400 },
  );
});

/** Plays moves that must all be possible. */
function play(policy: FailurePolicy, ...moves: Move[]): GroupWorld {
  const world = started(policy, 2);
  for (const what of moves) expect(move(world, what), what).toBe(true);
  return world;
}

const FIRST_UPGRADED: readonly Move[] = ['node', 'complete', 'heal', 'time'];

describe('a second component that fails', () => {
  test('partial_ok: the first stays upgraded, the group is partial', () => {
    const world = play('partial_ok', ...FIRST_UPGRADED, 'fail');
    expect(world.group.status).toBe('partial');
    expect(world.components[0]?.rollout).toMatchObject({ status: 'completed', succeededNodes: 1 });
  });

  test('rollback_all: its own nodes go back first, then the first component (C10)', () => {
    const world = play('rollback_all', ...FIRST_UPGRADED, 'node', 'fail', 'obey', 'complete', 'obey', 'complete');
    expect(world.group.status).toBe('rolled_back');
    expect(world.events.filter(({ kind }) => kind === 'turned_back').map(({ index }) => index)).toEqual([1, 0]);
  });

  test('manual: the group is paused; skip leaves the component out', () => {
    const world = play('manual', ...FIRST_UPGRADED, 'fail');
    expect(world.group).toMatchObject({ status: 'paused', statusReason: { code: 'component_paused' } });
    expect(move(world, 'skip')).toBe(true);
    expect(move(world, 'obey')).toBe(true);
    expect(world.group.status).toBe('completed');
  });
});

test('a first component that fails under partial_ok makes the group failed: nothing succeeded', () => {
  expect(play('partial_ok', 'fail').group.status).toBe('failed');
});

test('the gate is asked again after a resume, and its time counts from there (C6)', () => {
  const world = play('manual', 'node', 'complete', 'time');
  expect(world.group).toMatchObject({ status: 'paused', statusReason: { code: 'component_unhealthy' } });
  expect(move(world, 'heal')).toBe(true);
  expect(world.group.status, 'a person decides').toBe('paused');
  expect(move(world, 'resume')).toBe(true);
  expect(world.components[1]?.rollout?.status).toBe('running');
});

test('a rollback that leaves a node behind ends the group: what the component stands on stays', () => {
  const world = play('rollback_all', ...FIRST_UPGRADED, 'node', 'fail', 'obey', 'fail');
  expect(world.group).toMatchObject({ status: 'failed', statusReason: { code: 'group_rollback_incomplete' } });
  expect(world.components[0]?.rollout?.status).toBe('completed');
});

test('the same question has the same answer, and a settled group changes nothing', () => {
  const world = play('manual', ...FIRST_UPGRADED, 'pause');
  expect(world.settle()).toEqual(world.settle());
});
