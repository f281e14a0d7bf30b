import { decideNext } from '../decide-next.ts';
import type { ReasonCode } from '../reasons.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { OverridableRule } from '../rule-override.ts';
import { heldRules } from '../start-gates/held-rules.ts';
import type { StartPurpose } from '../start-gates/start-gate.ts';
import { START_GATE_NAMES, type StartGateName } from '../start-gates/start-gates.ts';
import { aControl, aNode, aRow, aSnapshot, ended, type SnapshotParts } from './snapshot-builder.ts';
import { type HoldingFacts, WHAT_HOLDS } from './what-holds.ts';
import { answerOf, ofNode } from './why-case.ts';

/** The moment at which every combination is asked. */
export const ASKED_AT = Date.parse('2026-01-01T12:00:00Z');

/** What is answered of node `a` while some gates hold it. Codes of reasons, in the order in which they are told. */
export interface CombinationAnswer {
  /** By `decideNext`: of the reasons about this node, and about all of them. */
  readonly decided: readonly ReasonCode[];
  /** By "why does it wait?". */
  readonly told: readonly ReasonCode[];
  readonly starts: boolean;
}

/** The row of node `a` for a start of this kind. The way back begins with an offer that lapsed: its batch is under way. */
function rowFor(purpose: StartPurpose): RolloutNodeFacts {
  if (purpose === 'first') return aRow('a');
  if (purpose === 'retry') return ended('a', 'failed', { requestedAttempt: 2 });
  return ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback', offeredAt: 1 });
}

function merged(purpose: StartPurpose, all: readonly HoldingFacts[]): SnapshotParts {
  const direction = purpose === 'rollback' ? 'rollback' : 'upgrade';
  const rollout = { direction, batchSize: 2, failureThreshold: 1 } as const;
  return {
    rollout: Object.assign({ ...rollout }, ...all.map((one) => one.rollout)),
    nodes: [rowFor(purpose), ...all.flatMap((one) => one.others ?? [])],
    chain: Object.assign({}, ...all.map((one) => one.chain)),
    fleet: [aNode('a', Object.assign({}, ...all.map((one) => one.node)))],
    ...Object.assign({}, ...all.map((one) => one.snapshot)),
  };
}

/** A world in which these gates have what they need to hold node `a`. */
function partsOf(gates: readonly StartGateName[], purpose: StartPurpose): SnapshotParts {
  return merged(
    purpose,
    gates.map((gate) => WHAT_HOLDS[gate].facts(ASKED_AT, purpose)),
  );
}

/** How a gate is set aside for one rollout; null: nobody may. */
export function waysAround(gate: StartGateName): 'force' | OverridableRule | null {
  if (gate === 'chain_halted') return 'force';
  return heldRules(aSnapshot(partsOf([gate], 'first')), ASKED_AT)[0]?.rule ?? null;
}

/** What people did so that the gate does not hold, by overrides that end at a time. */
function setAside(gate: StartGateName, expiresAt: number): Pick<SnapshotParts, 'controls' | 'overrides'> {
  const way = waysAround(gate);
  if (way === 'force') return { controls: [aControl('force', ASKED_AT - 1)] };
  const actors = way === null ? [] : ['ann', 'bob'].slice(0, way.persons);
  const said = { rule: way?.name ?? '', reason: 'an emergency', createdAt: ASKED_AT - 1, expiresAt };
  return { overrides: actors.map((actor) => ({ ...said, actor })) };
}

export interface Combination {
  readonly gates: readonly StartGateName[];
  readonly purpose: StartPurpose;
  /** Those of the gates that people have set aside. */
  readonly aside?: readonly StartGateName[];
  /** When what they said expires, in epoch milliseconds; left out: after the question. */
  readonly expiresAt?: number;
}

/** Asks for node `a` while these gates have what they need to hold it. */
export function answerFor({ gates, purpose, aside = [], expiresAt = ASKED_AT + 1 }: Combination): CombinationAnswer {
  const said = aside.map((gate) => setAside(gate, expiresAt));
  const parts: SnapshotParts = {
    ...partsOf(gates, purpose),
    controls: said.flatMap(({ controls = [] }) => controls),
    overrides: said.flatMap(({ overrides = [] }) => overrides),
  };
  const decision = decideNext(aSnapshot(parts), ASKED_AT);
  const reasons = 'reasons' in decision ? decision.reasons : [];
  return {
    decided: gateCodes(reasons.filter(({ nodeIds }) => nodeIds === undefined || nodeIds.includes('a'))),
    told: gateCodes(answerOf(ofNode('a', parts), ASKED_AT)),
    starts: decision.kind === 'run' && decision.nodes.some(({ nodeId }) => nodeId === 'a'),
  };
}

const OF_GATES: readonly ReasonCode[] = START_GATE_NAMES.map((gate) => WHAT_HOLDS[gate].code);

function gateCodes(reasons: readonly { readonly code: ReasonCode }[]): ReasonCode[] {
  return reasons.map(({ code }) => code).filter((code) => OF_GATES.includes(code));
}

/** Every two gates, each pair once, in the order in which gates are asked. */
export function everyPair(): [StartGateName, StartGateName][] {
  return START_GATE_NAMES.flatMap((first, at) =>
    START_GATE_NAMES.slice(at + 1).map((second): [StartGateName, StartGateName] => [first, second]),
  );
}

/** Why two gates never hold one node together; null: they may. */
export function neverTogether(first: StartGateName, second: StartGateName): string | null {
  return WHAT_HOLDS[first].neverWith?.[second] ?? WHAT_HOLDS[second].neverWith?.[first] ?? null;
}

/** Whether a gate holds starts of this kind. */
export function holdsOn(gate: StartGateName, purpose: StartPurpose): boolean {
  return WHAT_HOLDS[gate].purposes.includes(purpose);
}
