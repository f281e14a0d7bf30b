import { NODE_UPGRADE_TRANSITIONS } from '../node-upgrade-status.ts';
import { ROLLOUT_TRANSITIONS } from '../rollout-status.ts';
import { INVARIANTS, type InvariantName } from './invariant-names.ts';

/** An invariant that does not hold; the message has its sentence and what was seen. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
  readonly invariant: InvariantName;

  constructor(invariant: InvariantName, seen: string) {
    super(`${invariant}: ${INVARIANTS[invariant]} Seen: ${seen}`);
    this.invariant = invariant;
  }
}

/**
 * For tests: what a walk or a simulation has reached, so that its silence means something. Counts how often the
 * precondition of each invariant held, each edge of the two state machines was taken and each answer was given.
 */
export class Coverage {
  readonly invariants = new Map<InvariantName, number>();
  readonly edges = new Map<string, number>();
  readonly answers = new Map<string, number>();

  /** Counts the invariant as reached. @throws {InvariantViolation} when it doesn't hold */
  hold(invariant: InvariantName, holds: boolean, seen: () => string): void {
    this.invariants.set(invariant, (this.invariants.get(invariant) ?? 0) + 1);
    if (!holds) throw new InvariantViolation(invariant, seen());
  }

  edge(machine: string, from: string, to: string): void {
    const key = `${machine}: ${from} -> ${to}`;
    this.edges.set(key, (this.edges.get(key) ?? 0) + 1);
  }

  answer(key: string): void {
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
  }

  /** Invariants and edges that were never reached: nothing was proved about them. */
  unreached(): string[] {
    const names = (Object.keys(INVARIANTS) as InvariantName[]).filter((name) => !this.invariants.has(name));
    return [...names, ...ALL_EDGES.filter((edge) => !this.edges.has(edge))];
  }

  /** Every counter by its name, the rarest first. */
  counters(): [name: string, count: number][] {
    const all: [string, number][] = [...this.invariants, ...this.edges, ...this.answers];
    return all.sort(([, a], [, b]) => a - b);
  }

  /** The same for people. */
  lines(): string[] {
    return this.counters().map(([name, count]) => `${String(count).padStart(10)}  ${name}`);
  }
}

const edgesOf = (machine: string, table: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(table).flatMap(([from, to]) => to.map((one) => `${machine}: ${from} -> ${one}`));

/** Every edge that both tables have, as `Coverage.edge` names them. */
const ALL_EDGES: readonly string[] = [
  ...edgesOf('rollout', ROLLOUT_TRANSITIONS),
  ...edgesOf('node', NODE_UPGRADE_TRANSITIONS),
];
