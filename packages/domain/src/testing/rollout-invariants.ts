import { expect } from 'vitest';
import { isEndedNode, isInFlight } from '../node-upgrade-status.ts';
import type { RolloutControlKind } from '../rollout-control.ts';
import type { RolloutDecision } from '../rollout-decision.ts';
import { isFailure } from '../rollout-rows.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { RolloutWorld } from './rollout-world.ts';

type Run = Extract<RolloutDecision, { kind: 'run' }>;

/** Position of the latest control of a kind, -1 when there is none. */
function lastOf({ controls }: RolloutWorld, kind: RolloutControlKind): number {
  return controls.findLastIndex((control) => control.kind === kind);
}

/** Whether a cancel was ordered and no rollback after it. */
function isCanceled(world: RolloutWorld): boolean {
  return lastOf(world, 'cancel') > lastOf(world, 'rollback');
}

/** What must hold when a child has taken its first step. */
export function checkFirstStep(world: RolloutWorld, step: 'started' | 'skipped' | 'nothing'): void {
  if (step === 'started') expect(isCanceled(world), 'an attempt started after a cancel').toBe(false);
}

const lastEndOf = (rows: readonly RolloutNodeFacts[]) => Math.max(0, ...rows.map((row) => row.endedAt ?? 0));

/** What must hold in the world whatever happened. */
export function checkWorld(world: RolloutWorld): void {
  const { rollout, rows } = world;
  const inFlight = world.inFlight();
  if (rollout.maxInFlight !== null) expect(inFlight.length, 'in flight').toBeLessThanOrEqual(rollout.maxInFlight);
  const first = inFlight.filter((row) => row.attemptCount === 1);
  if (rollout.strategy !== 'all_at_once' && rollout.direction === 'upgrade') {
    expect(new Set(first.map((row) => row.batchIndex)).size, 'batches in flight').toBeLessThanOrEqual(1);
    const limit = Math.max(rollout.batchSize, rollout.strategy === 'canary' ? rollout.canarySize : 0);
    expect(first.length, 'first attempts in flight').toBeLessThanOrEqual(limit);
  }
  if (rollout.direction === 'rollback') {
    expect(inFlight.length, 'on the way back').toBeLessThanOrEqual(rollout.batchSize);
  }
  for (const row of rows) expect(row.attemptCount, 'attempts').toBeLessThanOrEqual(row.requestedAttempt);
}

/** First attempts above batch 0 of a canary rollout start only on proof, and on approval when it breaks (C6). */
function checkCanaries(world: RolloutWorld): void {
  const { rollout, rows, controls } = world;
  const canaries = rows.filter((row) => row.batchIndex === 0 && row.status !== 'skipped');
  const end = lastEndOf(canaries);
  if (rollout.migrationType === 'breaking') {
    const approved = controls.some((control) => control.kind === 'approve_canary' && control.createdAt >= end);
    expect(approved, 'a second batch has its approval').toBe(true);
  }
  const resumes = controls.filter((control) => control.kind === 'resume').map((control) => control.createdAt);
  const resumed = Math.max(0, ...resumes);
  const begun = rows.some((row) => row.batchIndex > 0 && row.attemptCount > 0 && (row.startedAt ?? 0) >= end);
  if (begun) return;
  for (const row of canaries.filter(isFailure))
    expect(row.endedAt, 'a failed canary was seen').toBeLessThanOrEqual(resumed);
  if (canaries.some((row) => row.status === 'succeeded')) {
    expect(world.now, 'the canaries were observed').toBeGreaterThanOrEqual(end + 2 * rollout.healthWaitMs);
  }
}

function checkThreshold({ rollout, rows, controls }: RolloutWorld): void {
  if (rollout.forceContinue || controls.some((control) => control.kind === 'force')) return;
  const resumed = Math.max(0, ...controls.filter(({ kind }) => kind === 'resume').map((control) => control.createdAt));
  const failed = rows.filter((row) => isFailure(row) && (row.endedAt ?? 0) > resumed).length;
  const attempted = rows.filter((row) => row.attemptCount > 0).length;
  if (rollout.maxFailures !== null) expect(failed, 'max_failures').toBeLessThanOrEqual(rollout.maxFailures);
  if (attempted >= rollout.minAttempted && attempted > 0) {
    expect(failed / attempted, 'threshold').toBeLessThanOrEqual(rollout.failureThreshold);
  }
}

function checkRun(world: RolloutWorld, { nodes, status }: Run): void {
  expect(isCanceled(world), 'nothing starts after a cancel').toBe(false);
  expect(nodes.length).toBeGreaterThan(0);
  expect(new Set(nodes.map((node) => node.nodeId)).size, 'each node once').toBe(nodes.length);
  const chosen = nodes.map(({ nodeId, attempt }) => {
    const row = world.rows.find((candidate) => candidate.nodeId === nodeId);
    expect(row && !isInFlight(row.status) && row.status !== 'skipped', 'can start').toBe(true);
    expect(attempt, 'the next attempt').toBe((row?.attemptCount ?? 0) + 1);
    return row;
  });
  const first = chosen.filter((row) => row?.status === 'pending');
  if (first.length === 0) return;
  expect(status).toBe('running');
  expect(world.rollout.direction, 'nothing goes up on the way back').toBe('upgrade');
  const paused = lastOf(world, 'pause') > Math.max(lastOf(world, 'resume'), lastOf(world, 'rollback'));
  expect(paused, 'no first attempt while paused').toBe(false);
  checkThreshold(world);
  const batch = Math.max(...first.map((row) => row?.batchIndex ?? 0));
  const before = world.rows.filter((row) => row.batchIndex < batch);
  expect(
    before.every((row) => isEndedNode(row.status)),
    'every batch before has ended',
  ).toBe(true);
  if (world.rollout.strategy === 'canary' && batch > 0) checkCanaries(world);
}

/** What must hold for every answer, before it is obeyed. */
export function checkDecision(world: RolloutWorld, decision: RolloutDecision): void {
  expect(JSON.stringify(world.ask()), 'the same question has the same answer').toBe(JSON.stringify(decision));
  if (decision.kind === 'run') checkRun(world, decision);
  if (decision.kind === 'wait') {
    expect(decision.reasons.length, 'every wait has a reason').toBeGreaterThan(0);
    if (decision.until !== null) expect(decision.until, 'it waits for later').toBeGreaterThanOrEqual(world.now);
  }
  if (decision.kind === 'pause' || decision.kind === 'finish' || decision.kind === 'roll_back') {
    expect(world.inFlight(), `${decision.kind} with nothing in flight`).toEqual([]);
  }
  if (decision.kind === 'finish' && decision.status === 'completed') {
    expect(
      world.rows.every((row) => isEndedNode(row.status)),
      'every target is terminal',
    ).toBe(true);
  }
}
