import { isUnavailable } from '../availability.ts';
import { decisionContext } from '../decision-context.ts';
import { type BudgetFacts, budgetGroupOf, budgetLimit } from '../disruption-budget-facts.ts';
import { isInFlight } from '../node-upgrade-status.ts';
import { type QuorumFacts, staysBelow } from '../quorum-facts.ts';
import type { FleetNodeFacts, RolloutNodeFacts } from '../rollout-snapshot.ts';
import { askGates } from '../start-gates/start-gates.ts';
import { RolloutWorld } from './rollout-world.ts';
import { aNode, aRollout, aRow } from './snapshot-builder.ts';

type BudgetSpec = Omit<BudgetFacts, 'groups'>;

/** How often a start took the last that a limit had left, and how often one was held back at its begin. */
export interface LimitFigures {
  starts: number;
  budgetReached: number;
  quorumReached: number;
  givenUp: number;
}

const THIRD = { numerator: 1n, denominator: 3n };

/**
 * For tests: rollouts of several chains over one fleet, as the database shows it to each of them: who is in flight anywhere or
 * down counts for all. A begin asks the gates anew, one after the other, as the locks make it.
 */
export class SharedFleet {
  readonly worlds: readonly RolloutWorld[];
  readonly figures: LimitFigures;
  readonly #nodes: Map<string, FleetNodeFacts>;
  readonly #budgets: readonly BudgetSpec[];

  constructor(
    sizes: readonly number[],
    budgets: readonly BudgetSpec[],
    strategies: readonly string[],
    figures: LimitFigures,
  ) {
    this.#budgets = budgets;
    this.figures = figures;
    this.#nodes = new Map();
    this.worlds = sizes.map((size, chain) => {
      const ids = Array.from({ length: size }, (_, number) => `c${chain}n${number}`);
      for (const [number, id] of ids.entries()) {
        const labels = { zone: `z${number % 2}` };
        this.#nodes.set(
          id,
          aNode(id, { chainProfileId: `chain${chain}`, labels, votingPower: BigInt(1 + (number % 3)) }),
        );
      }
      const strategy = strategies[chain] === 'rolling' ? 'rolling' : 'all_at_once';
      const rollout = aRollout({ id: `r${chain}`, status: 'pending', strategy, batchSize: 2, failureThreshold: 1 });
      return new RolloutWorld(
        rollout,
        ids.map((id, number) => aRow(id, { batchIndex: strategy === 'rolling' ? number >> 1 : 0 })),
      );
    });
  }

  get nodeIds(): string[] {
    return [...this.#nodes.keys()];
  }

  /** A host dies, falls ill or comes back. */
  set(nodeId: string, over: Pick<FleetNodeFacts, 'state' | 'online'>): void {
    const node = this.#nodes.get(nodeId);
    if (node) this.#nodes.set(nodeId, { ...node, ...over });
  }

  /** What a rollout sees of the fleet now. */
  look(world: RolloutWorld): void {
    for (const { nodeId } of world.rows) {
      const node = this.#nodes.get(nodeId);
      if (node) world.fleet.set(nodeId, node);
    }
    world.budgets = this.#budgets.map((budget) => ({ ...budget, groups: this.#groups(budget) }));
    world.quorum = this.#quorum(world.snapshot().nodes[0]?.nodeId ?? '');
  }

  /** Begins a child under its reservation. @throws when a start takes more than a limit has */
  begin(world: RolloutWorld, index: number, lost: boolean): void {
    this.look(world);
    const before = this.#unavailable();
    const nodeId = world.children[index]?.nodeId ?? '';
    const outcome = world.takeFirstStep(index, lost, (row) => this.#reserve(world, row));
    if (outcome !== 'started') return;
    this.figures.starts += 1;
    if (before.has(nodeId)) return;
    this.look(world);
    const node = this.#nodes.get(nodeId);
    if (node) this.#check(world, node);
  }

  #reserve(world: RolloutWorld, row: RolloutNodeFacts): boolean {
    const context = { ...decisionContext(world.snapshot(), world.now), offered: [] };
    const purpose = row.attemptDirection === 'rollback' ? 'rollback' : row.status === 'pending' ? 'first' : 'retry';
    const { holds, stop } = askGates({ row, purpose }, { ...context, underway: context.inFlight.length, chosen: [] });
    const open = stop === null && holds.length === 0;
    if (!open) this.figures.givenUp += 1;
    return open;
  }

  #check({ budgets, quorum }: RolloutWorld, node: FleetNodeFacts): void {
    for (const budget of budgets) {
      const group = budget.groups.get(budgetGroupOf(budget, node) ?? '-');
      if (!group) continue;
      const { count } = budgetLimit(budget.maxUnavailable, group.members);
      if (group.unavailable > count)
        throw new Error(`${budget.name}: ${group.unavailable} of ${count} after ${node.name}`);
      if (group.unavailable === count) this.figures.budgetReached += 1;
    }
    if (quorum === null || quorum.total === null) return;
    if (!staysBelow(quorum.down, quorum.total, quorum.limit)) throw new Error(`quorum lost after ${node.name}`);
    if (!staysBelow(quorum.down + 1n, quorum.total, quorum.limit)) this.figures.quorumReached += 1;
  }

  #unavailable(): Set<string> {
    const flying = this.worlds.flatMap(({ rows }) => rows.filter(({ status }) => isInFlight(status)));
    const ill = [...this.#nodes.values()].filter(isUnavailable);
    return new Set([...flying, ...ill].map(({ nodeId }) => nodeId));
  }

  #groups(budget: BudgetSpec): BudgetFacts['groups'] {
    const down = this.#unavailable();
    const groups = new Map<string, { members: number; unavailable: number; names: string[] }>();
    for (const node of this.#nodes.values()) {
      const value = budgetGroupOf(budget, node);
      if (value === null) continue;
      const group = groups.get(value) ?? { members: 0, unavailable: 0, names: [] };
      groups.set(value, group);
      group.members += 1;
      if (down.has(node.nodeId)) group.unavailable += 1;
    }
    return groups;
  }

  #quorum(ofNode: string): QuorumFacts {
    const chain = this.#nodes.get(ofNode)?.chainProfileId ?? '';
    const down = this.#unavailable();
    const members = [...this.#nodes.values()].filter((node) => node.chainProfileId === chain);
    const sum = (nodes: readonly FleetNodeFacts[]) => nodes.reduce((all, node) => all + (node.votingPower ?? 0n), 0n);
    const gone = sum(members.filter(({ nodeId }) => down.has(nodeId)));
    return { chain, limit: THIRD, nodeTypes: ['validator'], total: sum(members), down: gone, names: [], unknown: [] };
  }
}
