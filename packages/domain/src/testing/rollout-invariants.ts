import { isEndedNode, isInFlight } from '../node-upgrade-status.ts';
import type { RolloutControlKind } from '../rollout-control.ts';
import type { RolloutDecision } from '../rollout-decision.ts';
import { isFailure } from '../rollout-rows.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import { isEndedRollout } from '../rollout-status.ts';
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
  if (step !== 'started') return;
  world.coverage.hold('no_start_after_cancel', !isCanceled(world), () => 'a child started its attempt');
}

const lastEndOf = (rows: readonly RolloutNodeFacts[]) =>
  rows.reduce((latest, row) => Math.max(latest, row.endedAt ?? 0), 0);

/** What must hold in the world whatever happened. */
export function checkWorld(world: RolloutWorld): void {
  const { rollout, rows, coverage } = world;
  const flying = world.inFlight();
  const limit = rollout.maxInFlight;
  if (flying.length > 0) {
    if (limit !== null) coverage.hold('max_in_flight', flying.length <= limit, () => `${flying.length} of ${limit}`);
    checkBatch(world, flying);
  }
  const wanted = rows.every((row) => row.attemptCount <= row.requestedAttempt);
  coverage.hold('attempts_wanted', wanted, () => JSON.stringify(rows));
}

function checkBatch({ rollout, coverage }: RolloutWorld, flying: readonly RolloutNodeFacts[]): void {
  if (rollout.direction === 'rollback') {
    coverage.hold('rollback_batch_size', flying.length <= rollout.batchSize, () => `${flying.length}`);
    return;
  }
  if (rollout.strategy === 'all_at_once') return;
  const first = flying.filter((row) => row.attemptCount === 1);
  if (first.length === 0) return;
  const batches = new Set(first.map((row) => row.batchIndex));
  coverage.hold('one_batch', batches.size <= 1, () => `batches ${[...batches].join(', ')}`);
  const size = Math.max(rollout.batchSize, rollout.strategy === 'canary' ? rollout.canarySize : 0);
  coverage.hold('batch_size', first.length <= size, () => `${first.length} of ${size}`);
}

/** When a person last resumed; 0 when nobody did. */
const lastResumeOf = ({ controls }: RolloutWorld) =>
  controls.reduce((latest, { kind, createdAt }) => (kind === 'resume' ? Math.max(latest, createdAt) : latest), 0);

/** First attempts above batch 0 of a canary rollout start only on proof, and on approval when it breaks (C6). */
function checkCanaries(world: RolloutWorld): void {
  const { rollout, rows, controls, coverage } = world;
  const canaries = rows.filter((row) => row.batchIndex === 0 && row.status !== 'skipped');
  const end = lastEndOf(canaries);
  if (rollout.migrationType === 'breaking') {
    const approved = controls.some((control) => control.kind === 'approve_canary' && control.createdAt >= end);
    coverage.hold('approval', approved, () => `canaries ended at ${end}`);
  }
  const begun = rows.some((row) => row.batchIndex > 0 && row.attemptCount > 0 && (row.startedAt ?? 0) >= end);
  if (begun) return;
  const resumed = lastResumeOf(world);
  for (const row of canaries.filter(isFailure)) {
    coverage.hold('failed_canary_seen', (row.endedAt ?? 0) <= resumed, () => `${row.nodeId} ended at ${row.endedAt}`);
  }
  if (!canaries.some((row) => row.status === 'succeeded')) return;
  const watched = world.now >= end + 2 * rollout.healthWaitMs;
  coverage.hold('canaries_observed', watched, () => `ended at ${end}, now ${world.now}`);
}

function checkThreshold(world: RolloutWorld): void {
  const { rollout, rows, controls, coverage } = world;
  if (rollout.forceContinue || controls.some((control) => control.kind === 'force')) return;
  const resumed = lastResumeOf(world);
  const failed = rows.filter((row) => isFailure(row) && (row.endedAt ?? 0) > resumed).length;
  const attempted = rows.filter((row) => row.attemptCount > 0).length;
  const { maxFailures, minAttempted, failureThreshold } = rollout;
  if (maxFailures !== null && attempted > 0) {
    coverage.hold('max_failures', failed <= maxFailures, () => `${failed} failed of at most ${maxFailures}`);
  }
  if (attempted < minAttempted || attempted === 0) return;
  const seen = () => `${failed} of ${attempted}, threshold ${failureThreshold}`;
  coverage.hold('failure_threshold', failed / attempted <= failureThreshold, seen);
}

function checkRun(world: RolloutWorld, { nodes, status }: Run): void {
  const { rollout, rows, coverage } = world;
  const told = () => nodes.map(({ nodeId, attempt }) => `${nodeId}#${attempt}`).join(' ');
  coverage.hold('no_start_after_cancel', !isCanceled(world), told);
  const byId = new Map(rows.map((row) => [row.nodeId, row]));
  const chosen = nodes.flatMap(({ nodeId }) => byId.get(nodeId) ?? []);
  const startable = chosen.every((row) => !isInFlight(row.status) && row.status !== 'skipped');
  const once = new Set(nodes.map((node) => node.nodeId)).size === nodes.length;
  coverage.hold('startable', startable && once && nodes.length > 0 && chosen.length === nodes.length, told);
  const next = nodes.every(({ nodeId, attempt }) => attempt === (byId.get(nodeId)?.attemptCount ?? 0) + 1);
  coverage.hold('next_attempt', next, told);
  const first = chosen.filter((row) => row.status === 'pending');
  if (isEndedRollout(rollout.status)) coverage.hold('ended_starts_retries_only', first.length === 0, told);
  if (rollout.direction === 'rollback') coverage.hold('no_upgrade_on_the_way_back', goesBack(chosen), told);
  if (first.length > 0) checkFirstAttempts(world, first, status, told);
}

const goesBack = (chosen: readonly RolloutNodeFacts[]) => chosen.every((row) => row.attemptDirection === 'rollback');

function checkFirstAttempts(
  world: RolloutWorld,
  first: readonly RolloutNodeFacts[],
  status: string,
  told: () => string,
): void {
  const { rows, coverage } = world;
  const paused = lastOf(world, 'pause') > Math.max(lastOf(world, 'resume'), lastOf(world, 'rollback'));
  coverage.hold('no_first_attempt_while_paused', !paused && status === 'running', told);
  checkThreshold(world);
  const batch = first.reduce((highest, row) => Math.max(highest, row.batchIndex), 0);
  if (batch === 0) return;
  const before = rows.filter((row) => row.batchIndex < batch);
  coverage.hold(
    'batches_in_order',
    before.every((row) => isEndedNode(row.status)),
    told,
  );
  if (world.rollout.strategy === 'canary') checkCanaries(world);
}

/** What must hold for every answer, before it is obeyed. */
export function checkDecision(world: RolloutWorld, decision: RolloutDecision): void {
  const { coverage, rows } = world;
  const again = world.ask();
  coverage.hold('same_answer', JSON.stringify(again) === JSON.stringify(decision), () => JSON.stringify(again));
  const blind = world.askKnowingOnlyTheAsked();
  coverage.hold('asked_nodes_are_enough', JSON.stringify(blind) === JSON.stringify(decision), () =>
    JSON.stringify(blind),
  );
  if (decision.kind === 'run') checkRun(world, decision);
  if (decision.kind === 'wait') {
    coverage.hold('wait_has_reason', decision.reasons.length > 0, () => JSON.stringify(decision));
    const { until } = decision;
    if (until !== null) coverage.hold('wait_for_later', until >= world.now, () => `${until}, now ${world.now}`);
  }
  if (decision.kind === 'pause' || decision.kind === 'finish' || decision.kind === 'roll_back') {
    coverage.hold('stands_still', world.inFlight().length === 0, () => `${decision.kind} with nodes in flight`);
  }
  if (decision.kind !== 'finish') return;
  const seen = () => rows.map((row) => `${row.nodeId} ${row.status}`).join(', ');
  if (decision.status === 'completed') {
    coverage.hold(
      'completed_is_terminal',
      rows.every((row) => isEndedNode(row.status)),
      seen,
    );
  }
  if (decision.status === 'rolled_back') {
    coverage.hold(
      'rolled_back_is_back',
      rows.every((row) => row.status !== 'succeeded'),
      seen,
    );
  }
}
