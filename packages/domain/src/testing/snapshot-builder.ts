import type { BudgetFacts } from '../disruption-budget-facts.ts';
import type { QuorumFacts } from '../quorum-facts.ts';
import type { RolloutControl, RolloutControlKind } from '../rollout-control.ts';
import type {
  ChainFacts,
  FleetNodeFacts,
  RolloutFacts,
  RolloutNodeFacts,
  RolloutSnapshot,
} from '../rollout-snapshot.ts';
import type { RuleOverride } from '../rule-override.ts';
import { NO_TRUST_RULES, type TrustFacts, type TrustRules } from '../trust/trust-rules.ts';

/** For tests only: facts with unremarkable defaults, so that a test names just what it is about. */

export const aRollout = (over: Partial<RolloutFacts> = {}): RolloutFacts => ({
  id: 'r1',
  status: 'running',
  statusReason: null,
  statusChangedAt: 0,
  direction: 'upgrade',
  strategy: 'rolling',
  batchSize: 1,
  canarySize: 1,
  failureThreshold: 0,
  maxFailures: null,
  minAttempted: 1,
  maxInFlight: null,
  healthWaitMs: 60_000,
  forceContinue: false,
  migrationType: 'none',
  offlinePolicy: 'skip',
  targetsResolved: true,
  ...over,
});

/** A row that has not been touched yet. */
export const aRow = (nodeId: string, over: Partial<RolloutNodeFacts> = {}): RolloutNodeFacts => ({
  nodeId,
  batchIndex: 0,
  status: 'pending',
  phase: null,
  attemptCount: 0,
  requestedAttempt: 1,
  attemptDirection: 'upgrade',
  offeredAt: null,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  ...over,
});

/** A row whose attempt is under way. */
export const inFlight = (nodeId: string, over: Partial<RolloutNodeFacts> = {}): RolloutNodeFacts =>
  aRow(nodeId, { status: 'in_progress', attemptCount: 1, startedAt: 500, ...over });

/** A row whose first attempt has ended at 1,000. */
export const ended = (
  nodeId: string,
  status: 'succeeded' | 'failed' | 'rolled_back',
  over: Partial<RolloutNodeFacts> = {},
): RolloutNodeFacts =>
  aRow(nodeId, {
    status,
    attemptCount: 1,
    startedAt: 500,
    endedAt: 1_000,
    durationMs: status === 'succeeded' ? 500 : null,
    ...over,
  });

let controlNumber = 0;

/** A control of a person called "ann". */
export const aControl = (
  kind: RolloutControlKind,
  createdAt: number,
  over: Partial<RolloutControl> = {},
): RolloutControl => {
  controlNumber += 1;
  const id = `c${controlNumber}`;
  return { id, kind, actor: 'ann', reason: 'because', createdAt, nodeId: null, failuresAcknowledged: null, ...over };
};

export const aNode = (nodeId: string, over: Partial<FleetNodeFacts> = {}): FleetNodeFacts => ({
  nodeId,
  name: nodeId,
  chainProfileId: 'chain',
  nodeType: 'validator',
  labels: {},
  state: 'healthy',
  online: true,
  lastHeartbeatAt: 0,
  quarantined: false,
  busyWithRolloutId: null,
  ...over,
});

/** A chain without a height check. */
export const aChain = (over: Partial<ChainFacts> = {}): ChainFacts => ({
  chainProfileId: 'chain',
  bestHeight: null,
  heightGrewAt: null,
  maxBlockIntervalMs: null,
  ...over,
});

/** A budget over the whole fleet, whose unavailable nodes have these names. */
export const aBudget = ({
  members = 10,
  names = [],
  ...over
}: Partial<Omit<BudgetFacts, 'groups'>> & { members?: number; names?: readonly string[] }): BudgetFacts => ({
  name: 'fleet',
  scope: {},
  per: null,
  maxUnavailable: 1,
  ...over,
  groups: new Map([['', { members, unavailable: names.length, names }]]),
});

/** A release without signature and date, and what its chain demands of it. */
export const aRelease = (rules: Partial<TrustRules>, over: Partial<TrustFacts> = {}): TrustFacts => ({
  rules: { ...NO_TRUST_RULES, ...rules },
  artifactKind: 'file',
  artifacts: [{ url: 'https://example.org/v2.0.0', signed: false }],
  releasedAt: null,
  firstSeenAt: null,
  manifest: null,
  approval: null,
  ...over,
});

/** A chain of four equal votes, all of them up. */
const A_QUORUM: QuorumFacts = {
  chain: 'chain',
  limit: { numerator: 1n, denominator: 3n },
  nodeTypes: ['validator'],
  total: 40n,
  down: 0n,
  names: [],
  unknown: [],
};

export interface SnapshotParts {
  readonly rollout?: Partial<RolloutFacts>;
  readonly nodes?: readonly RolloutNodeFacts[];
  readonly controls?: readonly RolloutControl[];
  readonly chain?: Partial<ChainFacts>;
  /** Fleet nodes that differ from healthy and online. */
  readonly fleet?: readonly FleetNodeFacts[];
  readonly overrides?: readonly RuleOverride[];
  readonly windows?: RolloutSnapshot['windows'];
  readonly freezes?: RolloutSnapshot['freezes'];
  readonly budgets?: readonly BudgetFacts[];
  readonly trust?: RolloutSnapshot['trust'];
  readonly quorum?: Partial<QuorumFacts>;
}

/** A snapshot whose nodes are all online and healthy unless `fleet` says otherwise. */
export function aSnapshot(parts: SnapshotParts): RolloutSnapshot {
  const { rollout, nodes = [], controls = [], chain, fleet = [], overrides = [] } = parts;
  const { windows = [], freezes = [], budgets = [], trust = null, quorum } = parts;
  const known = new Map(nodes.map((row) => [row.nodeId, aNode(row.nodeId)]));
  for (const node of fleet) known.set(node.nodeId, node);
  return {
    rollout: aRollout(rollout),
    nodes,
    controls,
    chain: aChain(chain),
    fleet: known,
    overrides,
    windows,
    freezes,
    budgets,
    trust,
    quorum: quorum === undefined ? null : { ...A_QUORUM, ...quorum },
  };
}
