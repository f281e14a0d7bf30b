import { isoTime } from '../iso-time.ts';
import type { ReasonCode } from '../reasons.ts';
import type { ChainFacts, FleetNodeFacts, RolloutFacts, RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { StartPurpose } from '../start-gates/start-gate.ts';
import type { StartGateName } from '../start-gates/start-gates.ts';
import { WEEKDAYS } from '../weekly-window.ts';
import { aBudget, aRelease, aRow, type SnapshotParts } from './snapshot-builder.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** What a gate needs to hold node `a`; several of them are put into one snapshot, so none sets what another one sets. */
export interface HoldingFacts {
  readonly rollout?: Partial<RolloutFacts>;
  /** Of node `a`. */
  readonly node?: Partial<FleetNodeFacts>;
  readonly chain?: Partial<ChainFacts>;
  /** Rows beside `a`, none of which would start. */
  readonly others?: readonly RolloutNodeFacts[];
  readonly snapshot?: Pick<SnapshotParts, 'windows' | 'freezes' | 'budgets' | 'quorum' | 'trust'>;
}

/** For tests and for the page of rule combinations: how a gate is brought to hold a node. */
export interface WhatHolds {
  /** When it holds, for people; goes on after "holds while". */
  readonly when: string;
  readonly code: ReasonCode;
  /** The starts that it holds; the others pass. */
  readonly purposes: readonly StartPurpose[];
  readonly facts: (now: number, purpose: StartPurpose) => HoldingFacts;
  /** Gates that can't hold the same node at the same time, and why not. */
  readonly neverWith?: Readonly<Partial<Record<StartGateName, string>>>;
}

const ALL: readonly StartPurpose[] = ['first', 'retry', 'rollback'];
const FORWARD: readonly StartPurpose[] = ['first', 'retry'];
const FIRST: readonly StartPurpose[] = ['first'];
const TAKES_NOTHING_AWAY = 'a node that is down already counts already, and starting it takes nothing away';

/** A row that is about to start, so that it counts as under way. */
function offered(now: number, purpose: StartPurpose): RolloutNodeFacts {
  const offer = { offeredAt: now - SECOND };
  if (purpose !== 'rollback') return aRow('z', offer);
  const back = { status: 'succeeded', attemptCount: 1, requestedAttempt: 2, attemptDirection: 'rollback' } as const;
  return aRow('z', { ...offer, ...back });
}

/** Every start gate: the compiler asks for a new one's entry, and with it come all its pairs. */
export const WHAT_HOLDS: Readonly<Record<StartGateName, WhatHolds>> = {
  chain_halted: {
    when: 'the chain stands',
    code: 'chain_halted',
    purposes: FIRST,
    facts: (now) => ({ chain: { bestHeight: 7, heightGrewAt: now - HOUR, maxBlockIntervalMs: 60 * SECOND } }),
  },
  trust: {
    when: "the release breaks the chain's trust rules, and no node has begun",
    code: 'release_too_young',
    purposes: FIRST,
    facts: (now) => ({ snapshot: { trust: aRelease({ minimumAgeMs: 72 * HOUR }, { releasedAt: now - HOUR }) } }),
  },
  freeze: {
    when: 'a freeze covers the node',
    code: 'frozen',
    purposes: FORWARD,
    facts: (now) => {
      const times = { from: isoTime(now - HOUR), to: isoTime(now + HOUR) };
      return { snapshot: { freezes: [{ name: 'payout', spec: { scope: {}, ...times, reason: 'the payout' } }] } };
    },
  },
  maintenance_window: {
    when: 'a window that covers the node is closed',
    code: 'outside_window',
    purposes: FORWARD,
    facts: (now) => {
      const clock = (at: number) => isoTime(at).slice(11, 16);
      const weekly = [{ days: WEEKDAYS, from: clock(now + HOUR), to: clock(now + 2 * HOUR) }];
      return { snapshot: { windows: [{ name: 'nights', spec: { scope: {}, time_zone: 'UTC', weekly } }] } };
    },
  },
  scheduled_start: {
    when: "the rollout's start time is to come",
    code: 'waiting_for_start_time',
    purposes: FIRST,
    facts: (now) => ({ rollout: { startAt: now + HOUR } }),
  },
  scheduled_height: {
    when: "the chain is below the rollout's height",
    code: 'waiting_for_height',
    purposes: FIRST,
    facts: () => ({ rollout: { startAtHeight: 500 }, chain: { bestHeight: 7 } }),
  },
  staging_ahead: {
    when: 'a node that is reached has not said whether it is ready',
    code: 'staging_nodes',
    purposes: FIRST,
    facts: () => ({ rollout: { stage: true }, others: [aRow('y', { batchIndex: 1 })] }),
  },
  activation_on_host: {
    when: 'the agents swap by themselves at the height',
    code: 'armed_for_height',
    purposes: FIRST,
    facts: () => ({ rollout: { activation: 'height' } }),
  },
  node_quarantined: {
    when: 'two hosts claim to be the node',
    code: 'node_quarantined',
    purposes: ALL,
    facts: () => ({ node: { quarantined: true } }),
  },
  node_held: {
    when: 'a person holds the node',
    code: 'node_held',
    purposes: ALL,
    facts: (now) => ({ node: { hold: { actor: 'ann', reason: 'its disk is being moved', until: now + HOUR } } }),
  },
  node_busy: {
    when: 'another rollout changes the node',
    code: 'node_busy',
    purposes: ALL,
    facts: () => ({ node: { busyWithRolloutId: 'r0' } }),
    neverWith: { disruption_budget: TAKES_NOTHING_AWAY, quorum_guard: TAKES_NOTHING_AWAY },
  },
  agent_offline: {
    when: "the node's agent is offline and the rollout waits for such nodes",
    code: 'agent_offline',
    purposes: ALL,
    facts: (now) => ({ rollout: { offlinePolicy: 'wait' }, node: { online: false, lastHeartbeatAt: now - HOUR } }),
    neverWith: {
      on_duty: 'what is known of the duties of a node that is offline is old',
      disruption_budget: TAKES_NOTHING_AWAY,
      quorum_guard: TAKES_NOTHING_AWAY,
    },
  },
  on_duty: {
    when: 'the node has a duty, or it is not known whether it has',
    code: 'on_duty',
    purposes: FORWARD,
    facts: () => ({ node: { duties: [{ name: 'proposer', free: false, waitSeconds: 90, missing: [] }] } }),
  },
  disruption_budget: {
    when: 'one node more would be more than a budget lets be unavailable',
    code: 'disruption_budget_reached',
    purposes: ALL,
    facts: () => ({ snapshot: { budgets: [aBudget({ name: 'racks', names: ['b'] })] } }),
  },
  quorum_guard: {
    when: "the chain's voting power that is down would reach its limit, or some power is not known",
    code: 'quorum_at_risk',
    purposes: ALL,
    facts: () => ({
      node: { votingPower: 10n },
      // the rows beside it do not vote
      snapshot: { quorum: { down: 10n, names: ['b'], nodeTypes: [] } },
    }),
  },
  max_in_flight: {
    when: 'as many nodes of the rollout are in flight as may be',
    code: 'max_in_flight_reached',
    purposes: ALL,
    facts: (now, purpose) => ({ rollout: { maxInFlight: 1 }, others: [offered(now, purpose)] }),
  },
};
