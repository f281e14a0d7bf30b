import { OFFER_AGAIN_AFTER_MS } from '../rollout-decision.ts';
import { wantsAttempt } from '../rollout-rows.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { RolloutWorld } from './rollout-world.ts';

/** The time of every canonical world. */
const NOW = 1_000_000;
/** How far back what is old lies: further than any wait. */
const LONG_AGO = 500_000;

/**
 * Rewrites the world's times so that worlds which differ only in clock readings become equal: what counts is which came
 * first, and whether an offer has lapsed or the canaries were watched long enough. So the walk's worlds are finitely many.
 */
export function makeCanonical(world: RolloutWorld): void {
  const at = timeMap(world);
  const { rollout } = world;
  world.rollout = { ...rollout, statusChangedAt: at(rollout.statusChangedAt) };
  world.controls = world.controls
    .filter(({ kind }) => kind !== 'retry' && kind !== 'skip') // they have acted on their rows and count no more
    .map((control) => ({ ...control, createdAt: at(control.createdAt) }));
  for (const [index, row] of world.rows.entries()) world.rows[index] = canonicalRow(row, world, at);
  world.now = NOW;
}

/** One text for equal canonical worlds. */
export function worldKey({ rollout, rows, controls, chain, fleet, children }: RolloutWorld): string {
  const parts = [rollout.status, rollout.statusReason, rollout.direction, rollout.statusChangedAt];
  const ofRows = rows.map((row) => Object.values(row).join(','));
  const ofControls = controls.map((one) => `${one.kind}@${one.createdAt}:${one.failuresAcknowledged}`);
  const ofHosts = [...fleet.values()].map((node) => `${node.online}${node.state}${node.busyWithRolloutId}`);
  const ofChildren = children.map((child) => `${child.nodeId}#${child.attempt}`).sort();
  return [...parts, ...ofRows, ...ofControls, chain.maxBlockIntervalMs, ...ofHosts, ...ofChildren].join('|');
}

function sinceOffer(offeredAt: number, now: number): number {
  return now - offeredAt < OFFER_AGAIN_AFTER_MS ? NOW - 1 : NOW - LONG_AGO;
}

function canonicalRow(row: RolloutNodeFacts, world: RolloutWorld, at: (time: number) => number): RolloutNodeFacts {
  const offered = row.offeredAt !== null && wantsAttempt(row);
  const ofCanaries = world.rollout.strategy === 'canary';
  return {
    ...row,
    statusReason: row.statusReason ?? null,
    offeredAt: offered ? sinceOffer(row.offeredAt, world.now) : null,
    // only whether a later batch began after the canaries ended is ever asked
    startedAt: row.startedAt === null ? null : ofCanaries && row.batchIndex > 0 ? at(row.startedAt) : 0,
    endedAt: row.endedAt === null ? null : at(row.endedAt),
    durationMs: row.durationMs === null ? null : 1,
  };
}

/** Times that others are compared with: controls, the status, the end of the canaries. */
function timeMap(world: RolloutWorld): (time: number) => number {
  const { rollout, controls, rows, now } = world;
  const marks = new Set([rollout.statusChangedAt, ...controls.map((control) => control.createdAt)]);
  let watchedFrom = Number.NEGATIVE_INFINITY;
  if (rollout.strategy === 'canary') {
    const ends = rows.filter((row) => row.batchIndex === 0 && row.status !== 'skipped').map((row) => row.endedAt ?? 0);
    const lastEnd = Math.max(0, ...ends);
    marks.add(lastEnd);
    if (now - lastEnd >= 2 * rollout.healthWaitMs) watchedFrom = lastEnd;
  }
  const all = [...marks];
  return (time) => {
    let before = 0;
    for (const mark of all) if (mark <= time) before += 1;
    const between = marks.has(time) ? 0 : 2;
    return NOW - 1_000 + before * 4 + between - (time <= watchedFrom ? LONG_AGO : 0);
  };
}
