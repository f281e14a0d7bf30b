import { randomUUID } from 'node:crypto';
import { disruptionBudgetSchema } from '@hoodcloud/contracts/policies/disruption-budget';
import type { Database } from '@hoodcloud/controlplane/db/database';
import { json } from '@hoodcloud/controlplane/db/json';
import { attemptId } from '@hoodcloud/domain/agent-operation';
import type { BudgetFacts } from '@hoodcloud/domain/disruption-budget-facts';
import type { FailureClass } from '@hoodcloud/domain/failure-class';
import { type Reason, sentenceOf } from '@hoodcloud/domain/reasons';
import type { FleetNodeFacts, RolloutNodeFacts } from '@hoodcloud/domain/rollout-snapshot';
import type { GroupWhyCase, RolloutWhyCase, WhyCase } from '@hoodcloud/domain/testing/why-case';
import type { AttemptFacts, CommandFacts } from '@hoodcloud/domain/why/attempt-why';
import { insertGroup, insertGroupComponents } from './group-rows.ts';
import { checksumOf, insertNode, insertPolicy, insertRollout, insertRolloutNode } from './rows.ts';

/** A case of `WHY_CASES` as it stands in the database. */
export interface PlacedCase {
  readonly chain: string;
  /** The rollout, node or group that is asked. */
  readonly ask: { readonly kind: 'rollout' | 'node' | 'group'; readonly id: string; readonly name: string };
  /** The rollout that has the node. */
  readonly rolloutId: string | null;
  /** The domain's answer with the names of the nodes that were made: what every view must show. */
  readonly sentencesOf: (answer: readonly Reason[]) => string[];
}

const at = (time: number | null) => (time === null ? null : new Date(time));
/** A node that is online stays so however slow the machine is. */
const ONLINE_FOR_LONG = 600_000;

interface Placing {
  readonly db: Database;
  readonly chain: string;
  readonly now: number;
}

/**
 * Puts a case into the database as the control plane would have it there, on a chain of its own whose name is `name`.
 * @param now the time the case was made for, in epoch milliseconds
 */
export async function placeWhyCase(db: Database, name: string, it: WhyCase, now: number): Promise<PlacedCase> {
  const placing = { db, chain: name, now };
  if (it.kind === 'group') return placeGroup(placing, it);
  if (it.kind === 'rollout') return placeRollout(placing, it);
  const id = await placeNode(placing, it.node.nodeId, it.node);
  const names = new Map([[it.node.nodeId, { id, name: nameOf(name, it.node.nodeId) }]]);
  return placed(placing, { kind: 'node', id, name: nameOf(name, it.node.nodeId) }, null, names);
}

const nameOf = (chain: string, nodeId: string) => `${chain}-${nodeId}`;
type Names = ReadonlyMap<string, { readonly id: string; readonly name: string }>;

function placed({ chain }: Placing, ask: PlacedCase['ask'], rolloutId: string | null, names: Names): PlacedCase {
  const rename = (text: string) => text.replace(/\b\w+\b/g, (word) => names.get(word)?.name ?? word);
  return {
    chain,
    ask,
    rolloutId,
    sentencesOf: (answer) =>
      answer.map(({ code, params }) => {
        const named = typeof params.node === 'string' ? { node: rename(params.node) } : {};
        const who = typeof params.who === 'string' ? { who: rename(params.who) } : {};
        const budget = typeof params.budget === 'string' ? { budget: rename(params.budget) } : {};
        const of = params.chain === undefined ? {} : { chain };
        const other =
          typeof params.rollout === 'string' ? { rollout: names.get(params.rollout)?.id ?? params.rollout } : {};
        return sentenceOf({ code, params: { ...params, ...named, ...who, ...budget, ...of, ...other } });
      }),
  };
}

async function placeNode({ db, chain, now }: Placing, nodeId: string, node: Partial<FleetNodeFacts>): Promise<string> {
  const { state = 'healthy', online = true, lastHeartbeatAt = null, quarantined = false } = node;
  const id = await insertNode(db, {
    name: nameOf(chain, nodeId),
    chain_profile_id: chain,
    state,
    last_heartbeat_at: online ? new Date(now + ONLINE_FOR_LONG) : at(lastHeartbeatAt),
    quarantined_at: quarantined ? new Date(now) : null,
    labels: json(node.votingPower == null ? {} : { voting_power: String(node.votingPower) }),
  });
  const { hold, duties = [] } = node;
  if (hold) {
    const { actor, reason, until } = hold;
    await db
      .insertInto('node_holds')
      .values({ node_id: id, kind: 'hold', actor, reason, expires_at: new Date(until) })
      .execute();
  }
  if (duties.length > 0) {
    await db
      .insertInto('node_heartbeats')
      .values({ node_id: id, session_id: randomUUID(), components: json([]), judged: json({ duties }) })
      .execute();
  }
  return id;
}

async function placeRollout(placing: Placing, it: RolloutWhyCase): Promise<PlacedCase> {
  const { db, chain } = placing;
  const { rollout, nodes, controls, chain: heights, fleet } = it.snapshot;
  const rolloutId = await insertRollout(db, {
    chain_profile_id: chain,
    status: rollout.status,
    status_reason: it.told?.code ?? null,
    status_reason_params: json(it.told?.params ?? {}),
    status_changed_at: new Date(rollout.statusChangedAt),
    direction: rollout.direction,
    strategy: rollout.strategy,
    batch_size: rollout.batchSize,
    canary_size: rollout.canarySize,
    failure_threshold: rollout.failureThreshold,
    max_failures: rollout.maxFailures,
    min_attempted: rollout.minAttempted,
    failure_classes: rollout.failureClasses ? json(rollout.failureClasses) : null,
    max_in_flight: rollout.maxInFlight,
    health_wait_ms: rollout.healthWaitMs,
    force_continue: rollout.forceContinue,
    migration_type: rollout.migrationType,
    offline_policy: rollout.offlinePolicy,
    start_at_height: rollout.startAtHeight ?? null,
    start_at: at(rollout.startAt ?? null),
    stage: rollout.stage ?? false,
    released_at: at(it.snapshot.trust?.releasedAt ?? null),
    activation: rollout.activation ?? 'rollout',
    two_person_approval: Boolean(rollout.approvalBarredFor),
    ...(it.snapshot.trust?.manifest && { upgrade_id: 'v2', manifest_key: it.snapshot.trust.manifest.key }),
    start_approval: Boolean(it.snapshot.trust?.approval),
    targets_resolved_at: rollout.targetsResolved ? new Date(rollout.statusChangedAt) : null,
    total_nodes: nodes.length,
  });
  const names = new Map<string, { id: string; name: string }>();
  for (const row of nodes) {
    const node = fleet.get(row.nodeId) ?? {};
    const id = await placeNode(placing, row.nodeId, node);
    names.set(row.nodeId, { id, name: nameOf(chain, row.nodeId) });
    const attempt = row.nodeId === it.node ? it.attempt : null;
    await placeRow(placing, rolloutId, id, row, attempt);
    const busy = fleet.get(row.nodeId)?.busyWithRolloutId ?? null;
    if (busy !== null) names.set(busy, { id: await placeOther(placing, id), name: busy });
  }
  for (const { kind, actor, reason, createdAt, nodeId, failuresAcknowledged } of controls) {
    const node_id = nodeId === null ? null : (names.get(nodeId)?.id ?? null);
    const control = { rollout_id: rolloutId, kind, actor, reason, node_id, created_at: new Date(createdAt) };
    await db
      .insertInto('rollout_controls')
      .values({ ...control, failures_acknowledged: failuresAcknowledged })
      .execute();
  }
  if (heights.bestHeight !== null && heights.heightGrewAt !== null) {
    const height = {
      best_height: heights.bestHeight,
      grew_at: new Date(heights.heightGrewAt),
      block_interval_ms: heights.blockIntervalMs ?? null,
    };
    await db
      .insertInto('chain_heights')
      .values({ chain_profile_id: chain, ...height })
      .execute();
  }
  await placePolicies(placing, it.snapshot);
  for (const budget of it.snapshot.budgets) names.set(budget.name, await placeBudget(placing, budget));
  await placeEarlierRun(placing, it.earlier);
  const asked = it.node === null ? undefined : names.get(it.node);
  const ask = asked
    ? { kind: 'node' as const, ...asked }
    : { kind: 'rollout' as const, id: rolloutId, name: rolloutId };
  return placed(placing, ask, rolloutId, names);
}

/** Windows and freezes of the case, for its chain alone. */
async function placePolicies({ db, chain }: Placing, { windows, freezes }: RolloutWhyCase['snapshot']): Promise<void> {
  const scope = { chains: [chain] };
  for (const { name, spec } of windows) await insertPolicy(db, 'maintenance_window', name, { ...spec, scope });
  for (const { name, spec } of freezes) await insertPolicy(db, 'freeze', name, { ...spec, scope });
}

async function placeBudget({ db, chain }: Placing, budget: BudgetFacts): Promise<{ id: string; name: string }> {
  const spec = disruptionBudgetSchema.parse({
    scope: { ...budget.scope, chains: [chain] },
    max_unavailable: budget.maxUnavailable,
    ...(budget.per !== null && { per: budget.per }),
  });
  const name = nameOf(chain, budget.name);
  await insertPolicy(db, 'disruption_budget', name, spec);
  return { id: name, name };
}

/** A code that the agent tells of a failure of each class. */
const ERROR_CODES: Readonly<Record<FailureClass, string>> = {
  artifact: 'artifact_unavailable',
  infrastructure: 'engine_unreachable',
  state: 'restore_failed',
  node: 'start_failed',
};

async function placeRow(
  { db }: Placing,
  rolloutId: string,
  nodeId: string,
  row: RolloutNodeFacts,
  attempt: AttemptFacts | null,
): Promise<void> {
  const rolloutNodeId = await insertRolloutNode(db, rolloutId, nodeId, {
    batch_index: row.batchIndex,
    status: row.status,
    status_reason: attempt?.statusReason?.code ?? row.statusReason ?? null,
    status_reason_params: json(attempt?.statusReason?.params ?? {}),
    upgrade_phase: row.phase,
    attempt_count: row.attemptCount,
    requested_attempt: row.requestedAttempt,
    attempt_direction: row.attemptDirection,
    offered_at: at(row.offeredAt),
    started_at: at(row.startedAt),
    ended_at: at(row.endedAt),
    duration_ms: row.durationMs,
    stage_state: row.stageState ?? null,
    error_code: row.failureClass ? ERROR_CODES[row.failureClass] : null,
  });
  const of = {
    node_id: nodeId,
    rollout_id: rolloutId,
    rollout_node_id: rolloutNodeId,
    attempt_id: attemptId(rolloutId, nodeId, row.attemptCount),
    workflow_id: 'w',
  };
  if (attempt?.command) await db.insertInto('agent_commands').values(commandRow(of, attempt.command)).execute();
  if (attempt === null || attempt.health.length === 0) return;
  await db
    .insertInto('health_validations')
    .values({
      ...of,
      binary_name: 'cometbft',
      expected_checksum: checksumOf('b'),
      health_wait_ms: 1000,
      since: new Date(row.startedAt ?? 0),
      reasons: json(attempt.health),
    })
    .execute();
}

interface CommandOf {
  readonly node_id: string;
  readonly rollout_id: string;
  readonly rollout_node_id: string;
  readonly attempt_id: string;
  readonly workflow_id: string;
}

function commandRow(of: CommandOf, command: CommandFacts) {
  const { step } = command;
  return {
    ...of,
    operation: command.operation,
    payload: Buffer.from(''),
    status: command.status,
    created_at: new Date(command.createdAt),
    delivered_at: at(command.deliveredAt),
    acknowledged_at: at(command.acknowledgedAt),
    deadline_at: new Date(command.deadlineAt),
    ...(command.status === 'completed' && { ended_at: new Date(command.createdAt), outcome: 'completed' as const }),
    action_name: step?.action ?? null,
    progress_pct: step?.progressPct ?? null,
    progress_note: step?.note ?? null,
    action_since: at(step?.since ?? null),
    progress_at: at(step?.since ?? null),
  };
}

/** Another rollout whose attempt is under way on the node. */
async function placeOther({ db, chain }: Placing, nodeId: string): Promise<string> {
  const id = await insertRollout(db, { chain_profile_id: `${chain}-other`, status: 'running' });
  await insertRolloutNode(db, id, nodeId, { status: 'in_progress', attempt_count: 1 });
  return id;
}

/** A rollout of the same chain that is over, whose agent told how long its steps took. */
async function placeEarlierRun(placing: Placing, durations: RolloutWhyCase['earlier']): Promise<void> {
  if (Object.keys(durations).length === 0) return;
  const { db, chain, now } = placing;
  const rolloutId = await insertRollout(db, { chain_profile_id: chain, status: 'completed' });
  const nodeId = await placeNode(placing, 'earlier', {});
  const rolloutNodeId = await insertRolloutNode(db, rolloutId, nodeId, { status: 'succeeded', attempt_count: 1 });
  const steps = Object.entries(durations).map(([action_name, duration_ms]) => ({
    action_name,
    duration_ms,
    result: 'executed',
  }));
  await db
    .insertInto('agent_commands')
    .values({
      node_id: nodeId,
      rollout_id: rolloutId,
      rollout_node_id: rolloutNodeId,
      attempt_id: randomUUID(),
      workflow_id: 'w',
      operation: 'UPGRADE',
      payload: Buffer.from(''),
      status: 'completed',
      outcome: 'completed',
      deadline_at: new Date(now),
      ended_at: new Date(now),
      result: json({ steps }),
    })
    .execute();
}

async function placeGroup(placing: Placing, { snapshot }: GroupWhyCase): Promise<PlacedCase> {
  const { db, chain } = placing;
  const { group, components, controls } = snapshot;
  const groupId = await insertGroup(db, {
    chain_profile_id: chain,
    status: group.status,
    status_reason: group.statusReason?.code ?? null,
    status_reason_params: json(group.statusReason?.params ?? {}),
    status_changed_at: new Date(group.statusChangedAt),
    direction: group.direction,
    failure_policy: group.failurePolicy,
    gate_timeout_ms: group.gateTimeoutMs,
  });
  const names = new Map<string, { id: string; name: string }>();
  for (const { index, binaryName, rollout, gateNodes } of components) {
    if (rollout === null) continue;
    const of = { group_id: groupId, component_index: index, binary_name: binaryName, chain_profile_id: chain };
    // The group has the chain, so the rollout may not take it.
    const id = await insertRollout(db, { ...of, status: 'completed', status_reason: 'canary_not_proven' });
    await db
      .updateTable('rollouts')
      .set({ status: rollout.status, status_changed_at: new Date(rollout.statusChangedAt) })
      .set({ direction: rollout.direction, succeeded_nodes: rollout.succeededNodes })
      .where('id', '=', id)
      .execute();
    for (const node of gateNodes) {
      const nodeId = await placeNode(placing, node.nodeId, node);
      await insertGroupComponents(db, nodeId);
      names.set(node.nodeId, { id: nodeId, name: nameOf(chain, node.nodeId) });
      await insertRolloutNode(db, id, nodeId, { status: 'succeeded', running_checksum: checksumOf('a') });
    }
  }
  for (const { kind, actor, reason, createdAt, componentIndex } of controls) {
    const control = { group_id: groupId, kind, actor, reason, component_index: componentIndex };
    await db
      .insertInto('rollout_group_controls')
      .values({ ...control, created_at: new Date(createdAt) })
      .execute();
  }
  return placed(placing, { kind: 'group', id: groupId, name: groupId }, null, names);
}
