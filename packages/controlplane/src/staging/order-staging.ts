import { attemptId } from '@hoodcloud/domain/agent-operation';
import { decisionContext } from '@hoodcloud/domain/decision-context';
import { DomainError } from '@hoodcloud/domain/errors';
import { ARMED_FOR_MS, type StagedRollout, type StageGoal, stageOrder } from '@hoodcloud/domain/staging';
import { mayArm } from '@hoodcloud/domain/start-gates/start-gates';
import { artifactFor } from '@hoodcloud/domain/target-artifact';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { PLAIN_PAYLOADS } from '../db/payload-cipher.ts';
import type { Logger } from '../feature.ts';
import { OPEN_COMMAND_STATUSES } from '../gateway/command-store.ts';
import { isOnline } from '../nodes/liveness.ts';
import { planNameOf } from '../rollouts/activation.ts';
import { loadRolloutSnapshot } from '../rollouts/load-rollout-snapshot.ts';
import { lastWrittenChecksums, type NodeStepSources } from '../rollouts/node-upgrade-steps.ts';
import { storedHooks } from '../rollouts/rollout-hooks.ts';
import { type RolloutNodeRow, type RolloutRow, shareRollout } from '../rollouts/rollout-row.ts';
import { targetArtifacts } from '../rollouts/target-artifacts.ts';
import { isTrustedRelease } from '../rollouts/trusted-release.ts';
import { commandBudgetMs, upgradePayload } from '../rollouts/upgrade-command.ts';

/** So many nodes of a rollout download at once: a release server and a line out are shared with the chain. */
export const STAGED_AT_ONCE = 20;

type StagedNode = RolloutNodeRow & {
  readonly last_heartbeat_at: Date | null;
  readonly platform: string | null;
  readonly is_being_told: boolean;
};

/** Tells agents what their rollouts want to be ready ahead. @returns how many were told */
export async function orderStaging(db: Database, sources: NodeStepSources, log: Logger, now: Date): Promise<number> {
  let told = 0;
  for (const rolloutId of await rolloutsToStage(db)) {
    told += await db.transaction().execute((tx) => orderForRollout(tx, sources, log, rolloutId, now));
  }
  return told;
}

/** Rollouts that stage, and ended ones of which nodes still have something. */
async function rolloutsToStage(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from rollouts
     where stage and status in ('running', 'paused') and targets_resolved_at is not null
    union
    select r.id from rollouts r join rollout_nodes n on n.rollout_id = r.id
     where (n.stage_goal in ('staged', 'armed') and n.stage_state is distinct from 'activated' or (n.stage_goal = 'unstaged' and n.stage_state not in ('unstaged', 'activated')))
       and n.status in ('pending', 'skipped')
       and (r.status in ('completed', 'failed', 'canceled', 'rolled_back') or r.direction = 'rollback')
    order by 1`.execute(db);
  return rows.map(({ id }) => id);
}

async function orderForRollout(
  tx: Db,
  sources: NodeStepSources,
  log: Logger,
  rolloutId: string,
  now: Date,
): Promise<number> {
  const rollout = await shareRollout(tx, rolloutId);
  if (!rollout) return 0;
  const nodes = await stagedNodes(tx, rolloutId);
  const trusted = await isTrustedRelease(tx, sources.chains, rollout, now);
  const activatesOnHost = rollout.activation !== 'rollout';
  const facts: StagedRollout = { ...rollout, stage: rollout.stage && trusted, activatesOnHost };
  const armable =
    activatesOnHost && facts.status === 'running' ? await armableNodes(tx, sources, rolloutId, now) : NONE;
  let downloading = nodes.filter((node) => node.is_being_told && node.stage_goal !== 'unstaged').length;
  let told = 0;
  for (const node of nodes) {
    const goal = stageOrder(facts, factsOf(node, now, armable), now.getTime());
    if (goal === null) continue;
    const downloads = goal !== 'unstaged' && node.stage_state !== 'staged' && node.stage_state !== 'armed';
    if (downloads && downloading >= STAGED_AT_ONCE) continue;
    await tell(tx, sources, { rollout, node, goal, now }).catch((error: unknown) => refuse(tx, log, node, goal, error));
    downloading += downloads ? 1 : 0;
    told += 1;
  }
  return told;
}

const NONE: ReadonlySet<string> = new Set();

/** Ids of the nodes that no hold, freeze, window or demand of trust keeps from swapping by themselves. */
async function armableNodes(tx: Db, { chains }: NodeStepSources, rolloutId: string, now: Date): Promise<Set<string>> {
  const snapshot = await loadRolloutSnapshot(tx, rolloutId, chains, now, 'whole');
  if (snapshot === null) return new Set();
  const context = decisionContext(snapshot, now.getTime());
  const armable = snapshot.nodes.filter((row) => mayArm({ row, purpose: 'first' }, context));
  return new Set(armable.map(({ nodeId }) => nodeId));
}

function factsOf(node: StagedNode, now: Date, armable: ReadonlySet<string>) {
  return {
    status: node.status,
    stageGoal: node.stage_goal,
    stageState: node.stage_state,
    stageChangedAt: node.stage_changed_at?.getTime() ?? null,
    isBeingTold: node.is_being_told,
    online: isOnline(node.last_heartbeat_at, now),
    mayArm: armable.has(node.node_id),
  };
}

async function stagedNodes(tx: Db, rolloutId: string): Promise<StagedNode[]> {
  return tx
    .selectFrom('rollout_nodes as rn')
    .innerJoin('nodes as n', 'n.id', 'rn.node_id')
    .leftJoin('agent_commands as c', 'c.id', 'rn.stage_command_id')
    .selectAll('rn')
    .select(['n.last_heartbeat_at', 'n.platform'])
    .select((eb) =>
      eb
        .and([eb('c.id', 'is not', null), eb('c.result_taken_at', 'is', null)])
        .$castTo<boolean>()
        .as('is_being_told'),
    )
    .where('rn.rollout_id', '=', rolloutId)
    .where((eb) => eb.or([eb('rn.status', '=', 'pending'), eb('rn.stage_goal', 'is not', null)]))
    .orderBy('rn.batch_index')
    .orderBy('rn.node_id')
    .forUpdate('rn')
    .execute();
}

interface Telling {
  readonly rollout: RolloutRow;
  readonly node: StagedNode;
  readonly goal: StageGoal;
  readonly now: Date;
}

async function tell(tx: Db, sources: NodeStepSources, { rollout, node, goal, now }: Telling): Promise<void> {
  const operation = goal === 'unstaged' ? 'UNSTAGE' : 'STAGE';
  const attempt = attemptId(rollout.id, node.node_id, node.attempt_count + 1);
  const runtime = await sources.chains.runtime(rollout.chain_profile_id);
  const target = artifactFor(targetArtifacts(rollout), node.platform);
  const configs = (await sources.renderConfigs(rollout, [node.node_id])).get(node.node_id) ?? [];
  const payload = upgradePayload({
    attemptId: attempt,
    operation,
    rollout,
    row: { ...node, target_artifact: target === null ? null : { ...target } },
    runtime,
    stableMs: await sources.chains.stableMs(rollout.chain_profile_id),
    configs: operation === 'STAGE' ? configs.map(({ path, content }) => ({ path, content })) : [],
    lastWritten: await lastWrittenChecksums(tx, node.node_id, rollout.binary_name),
    ...(goal === 'armed' && { activation: await activationOf(sources, rollout) }),
  });
  await giveUpEarlier(tx, node.stage_command_id);
  const { id } = await tx
    .insertInto('agent_commands')
    .values({
      node_id: node.node_id,
      rollout_id: rollout.id,
      rollout_node_id: node.id,
      attempt_id: attempt,
      operation,
      payload: (sources.payloads ?? PLAIN_PAYLOADS).seal(payload),
      workflow_id: '',
      deadline_at: new Date(now.getTime() + commandBudgetMs(operation, runtime, storedHooks(rollout))),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('rollout_nodes')
    .set({ stage_goal: goal, stage_command_id: id, stage_state: node.stage_state ?? 'staging' })
    .set({ stage_changed_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', node.id)
    .execute();
}

/** When the agent swaps by itself: what is on the host tells it. */
async function activationOf({ chains }: NodeStepSources, rollout: RolloutRow) {
  return {
    height: BigInt(rollout.start_at_height ?? 0),
    lapseAfterSeconds: ARMED_FOR_MS / 1000,
    planName: rollout.activation === 'plan' ? planNameOf(rollout) : '',
    heightMetric: (await chains.heightMetric(rollout.chain_profile_id)) ?? '',
  };
}

/** What was told before counts no more, and its answer is nobody's news. */
async function giveUpEarlier(tx: Db, commandId: string | null): Promise<void> {
  if (commandId === null) return;
  await tx
    .updateTable('agent_commands')
    .set({ status: 'superseded', ended_at: sql<Date>`clock_timestamp()`, result_taken_at: new Date() })
    .where('id', '=', commandId)
    .where('status', 'in', OPEN_COMMAND_STATUSES)
    .execute();
}

/** A node whose files can't be rendered is not ready, and says why. */
async function refuse(tx: Db, log: Logger, node: StagedNode, goal: StageGoal, error: unknown): Promise<void> {
  if (!(error instanceof DomainError)) throw error;
  log.warn(
    { err: error, node_id: node.node_id, rollout_id: node.rollout_id },
    'a node could not be told to make ready',
  );
  await tx
    .updateTable('rollout_nodes')
    .set({ stage_goal: goal, stage_state: 'not_ready', stage_error: error.message })
    .set({ stage_changed_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', node.id)
    .execute();
}
