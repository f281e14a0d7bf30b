import { IllegalTransitionError } from './errors.ts';

/** For each state the states that may follow it. One table per state machine drives code, SQL check, docs and tests. */
export type TransitionTable<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Whether the table has the edge `from -> to`. */
export function canTransition<State extends string>(table: TransitionTable<State>, from: State, to: State): boolean {
  return table[from].includes(to);
}

/**
 * Refuses an edge that the table doesn't have.
 * @throws IllegalTransitionError naming the machine, both states and what would be legal.
 */
export function assertTransition<State extends string>(
  machine: string,
  table: TransitionTable<State>,
  from: State,
  to: State,
): void {
  if (!canTransition(table, from, to)) throw new IllegalTransitionError(machine, from, to, table[from]);
}

/** States that nothing follows. */
export function finalStates<State extends string>(table: TransitionTable<State>): State[] {
  return (Object.keys(table) as State[]).filter((state) => table[state].length === 0);
}
