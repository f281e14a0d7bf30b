import { askedNodes, type FleetlessSnapshot } from '@hoodcloud/domain/asked-nodes';
import type { QuorumRule } from '@hoodcloud/domain/quorum-facts';
import type { RolloutControl } from '@hoodcloud/domain/rollout-control';
import type { ChainFacts, FleetNodeFacts, RolloutSnapshot } from '@hoodcloud/domain/rollout-snapshot';
import type { RuleOverride } from '@hoodcloud/domain/rule-override';
import { demandsNothing, NO_TRUST_RULES, type TrustFacts, type TrustRules } from '@hoodcloud/domain/trust/trust-rules';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RolloutControlsTable, RolloutsTable } from '../db/generated/tables.ts';
import { isOnline } from '../nodes/liveness.ts';
import { loadDuties } from '../nodes/node-duties.ts';
import { loadHolds } from '../nodes/node-holds.ts';
import { VOTING_POWER } from '../nodes/voting-power.ts';
import { loadBudgets } from '../policies/load-budgets.ts';
import { loadPolicies } from '../policies/load-policies.ts';
import { loadQuorum } from '../policies/load-quorum.ts';
import { loadNodeFacts } from './load-node-facts.ts';
import { loadTrust } from './release-trust.ts';
import { rolloutFacts } from './rollout-facts.ts';
import { loadStartApproval } from './start-approval.ts';

/** What the snapshot needs to know of a chain's files. */
export interface ChainLimits {
  /** `health.max_block_interval_seconds` of the profile in milliseconds; null when the chain has none (D4a). */
  maxBlockIntervalMs(chainProfileId: string): Promise<number | null>;
  /** What the chain demands of a release of the binary; null when it has no profile. */
  trustRules(chainProfileId: string, binaryName: string): Promise<TrustRules | null>;
  /** Duties that its nodes must be free of before they are stopped; left out: there are none. */
  dutyNames?(chainProfileId: string): Promise<readonly string[]>;
  /** `quorum` of the profile; null, or the question left out: the chain has no quorum to guard. */
  quorum?(chainProfileId: string): Promise<QuorumRule | null>;
}

/** Of which nodes it is loaded what the fleet knows of them. */
export type SnapshotScope =
  /** Those that `decideNext` may ask about, and these. */
  | { readonly asked: readonly string[] }
  /** Every node of the rollout, for who asks the gates about each. */
  | 'whole'
  /**
   * The one whose start is asked for: of the rows too only those in flight and one that was begun, so that 10,000 begins don't each
   * read 10,000 rows.
   */
  | { readonly only: string };

/** For who asks `decideNext` or `controlVerdict` alone. */
export const DECISION: SnapshotScope = { asked: [] };

/**
 * Everything that `decideNext` and `controlVerdict` may know of a rollout (C7a). Load it in a transaction when what is
 * decided is written there.
 * @returns null when there is no such rollout
 */
export async function loadRolloutSnapshot(
  db: Db,
  rolloutId: string,
  chains: ChainLimits,
  now: Date,
  scope: SnapshotScope,
): Promise<RolloutSnapshot | null> {
  const rollout = await db
    .selectFrom('rollouts as r')
    .leftJoin('rollout_groups as g', 'g.id', 'r.group_id')
    .selectAll('r')
    .select('g.failure_policy')
    .where('r.id', '=', rolloutId)
    .executeTakeFirst();
  if (!rollout) return null;
  const own = {
    rollout: { ...rolloutFacts(rollout), groupFailurePolicy: rollout.failure_policy },
    nodes: await loadNodeFacts(db, rolloutId, onlyOf(scope)),
    controls: await loadControls(db, rolloutId),
  };
  const { chain_profile_id: chainId } = rollout;
  const fleet = await withDuties(
    db,
    (await chains.dutyNames?.(chainId)) ?? [],
    await loadFleet(db, rolloutId, now, fleetOf(scope, own, now)),
  );
  const quorum = (await chains.quorum?.(chainId)) ?? null;
  const only = onlyOf(scope);
  return {
    ...own,
    chain: await loadChain(db, chainId, chains),
    fleet,
    overrides: await loadOverrides(db, rolloutId),
    trust: await loadTrustOf(db, rollout, chains),
    windows: await loadPolicies(db, 'maintenance_window'),
    freezes: await loadPolicies(db, 'freeze'),
    budgets: await loadBudgets(db, chainId, now, only === null ? undefined : fleet.get(only)),
    quorum: quorum && (await loadQuorum(db, chainId, quorum, now)),
  };
}

function onlyOf(scope: SnapshotScope): string | null {
  return scope !== 'whole' && 'only' in scope ? scope.only : null;
}

/** Ids of the nodes that the fleet is asked about; null: all of the rollout. */
function fleetOf(scope: SnapshotScope, own: FleetlessSnapshot, now: Date): readonly string[] | null {
  if (scope === 'whole') return null;
  if ('only' in scope) return [scope.only];
  return [...new Set([...askedNodes(own, now.getTime()), ...scope.asked])];
}

/** Asked before the first node alone, so it isn't loaded for rollouts that nothing is demanded of, now or at their creation. */
export async function loadTrustOf(
  db: Db,
  rollout: Selectable<RolloutsTable>,
  chains: ChainLimits,
): Promise<TrustFacts | null> {
  const rules = await chains.trustRules(rollout.chain_profile_id, rollout.binary_name);
  if ((rules === null || demandsNothing(rules)) && !rollout.start_approval) return null;
  const approval = await loadStartApproval(db, rollout, rules?.twoPersons ?? false);
  return loadTrust(db, rules ?? NO_TRUST_RULES, rollout, approval);
}

/** All controls of a rollout, oldest first. */
export async function loadControls(db: Db, rolloutId: string): Promise<RolloutControl[]> {
  const rows = await db
    .selectFrom('rollout_controls')
    .selectAll()
    .where('rollout_id', '=', rolloutId)
    .orderBy('seq')
    .execute();
  return rows.map((row: Selectable<RolloutControlsTable>) => ({
    id: row.id,
    kind: row.kind,
    actor: row.actor,
    reason: row.reason,
    createdAt: row.created_at.getTime(),
    nodeId: row.node_id,
    failuresAcknowledged: row.failures_acknowledged,
  }));
}

async function loadChain(db: Db, chainProfileId: string, chains: ChainLimits): Promise<ChainFacts> {
  const heights = await db
    .selectFrom('chain_heights')
    .select(['best_height', 'grew_at', 'block_interval_ms'])
    .where('chain_profile_id', '=', chainProfileId)
    .executeTakeFirst();
  return {
    chainProfileId,
    bestHeight: heights?.best_height ?? null,
    heightGrewAt: heights?.grew_at.getTime() ?? null,
    blockIntervalMs: heights?.block_interval_ms ?? null,
    maxBlockIntervalMs: await chains.maxBlockIntervalMs(chainProfileId),
  };
}

/** The same nodes with what they have to be free of. */
async function withDuties(
  db: Db,
  names: readonly string[],
  fleet: Map<string, FleetNodeFacts>,
): Promise<Map<string, FleetNodeFacts>> {
  const duties = await loadDuties(db, names, [...fleet.keys()]);
  return new Map([...fleet].map(([id, node]) => [id, { ...node, duties: duties.get(id) ?? [] }]));
}

async function loadFleet(
  db: Db,
  rolloutId: string,
  now: Date,
  nodeIds: readonly string[] | null,
): Promise<Map<string, FleetNodeFacts>> {
  if (nodeIds?.length === 0) return new Map();
  const rows = await db
    .selectFrom('rollout_nodes as mine')
    .innerJoin('nodes as n', 'n.id', 'mine.node_id')
    .leftJoin('rollout_nodes as other', (join) =>
      join
        .onRef('other.node_id', '=', 'mine.node_id')
        .onRef('other.rollout_id', '<>', 'mine.rollout_id')
        .on('other.status', 'in', ['in_progress', 'validating']),
    )
    .select([
      'n.id',
      'n.name',
      'n.chain_profile_id',
      'n.node_type',
      'n.labels',
      'n.state',
      'n.last_heartbeat_at',
      'n.quarantined_at',
      'other.rollout_id as busy',
    ])
    .select(VOTING_POWER.as('power'))
    .where('mine.rollout_id', '=', rolloutId)
    .$if(nodeIds !== null, (query) => query.where('mine.node_id', '=', sql<string>`any(${nodeIds}::uuid[])`))
    .execute();
  const holds = await loadHolds(
    db,
    rows.map(({ id }) => id),
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        nodeId: row.id,
        name: row.name,
        chainProfileId: row.chain_profile_id,
        nodeType: row.node_type,
        labels: row.labels as FleetNodeFacts['labels'],
        state: row.state,
        online: isOnline(row.last_heartbeat_at, now),
        lastHeartbeatAt: row.last_heartbeat_at?.getTime() ?? null,
        quarantined: row.quarantined_at !== null,
        busyWithRolloutId: row.busy,
        hold: holds.get(row.id) ?? null,
        votingPower: row.power === null ? null : BigInt(row.power),
      },
    ]),
  );
}

/** Rules that people set aside for a rollout, oldest first; those that have expired included. */
export async function loadOverrides(db: Db, rolloutId: string): Promise<RuleOverride[]> {
  const rows = await db
    .selectFrom('rule_overrides')
    .select(['rule', 'actor', 'reason', 'created_at', 'expires_at'])
    .where('rollout_id', '=', rolloutId)
    .orderBy('created_at')
    .execute();
  return rows.map(({ created_at, expires_at, ...said }) => ({
    ...said,
    createdAt: created_at.getTime(),
    expiresAt: expires_at.getTime(),
  }));
}
