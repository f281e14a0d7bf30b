import { isInFlight } from '../node-upgrade-status.ts';
import { ROLLOUT_CONTROLS } from '../rollout-control.ts';
import { checkFirstStep } from './rollout-invariants.ts';
import type { RolloutWorld } from './rollout-world.ts';
import { askAndObey } from './settle.ts';
import { aChain, aNode } from './snapshot-builder.ts';

/** What can still happen beyond what the rollout itself does: people's orders, and faults of hosts, chain and children. */
export interface Budget {
  readonly orders: number;
  readonly faults: number;
}

export interface Move {
  readonly name: string;
  readonly budget: Budget;
  /** Changes the world; false when nothing came of it. */
  readonly make: (world: RolloutWorld) => boolean;
}

/** Longer than an offer holds and than the walk's canaries are watched. */
const LONG_MS = 31_000;

/** Every thing that can happen next in this world. */
export function movesOf(world: RolloutWorld, budget: Budget): Move[] {
  return [
    { name: 'ask', budget, make: (next) => askAndObey(next).kind.length > 0 },
    { name: 'time passes', budget, make: passTime },
    ...childMoves(world, budget),
    ...attemptMoves(world, budget),
    ...orderMoves(world, budget),
    ...faultMoves(world, budget),
  ];
}

function passTime(world: RolloutWorld): boolean {
  world.now += LONG_MS;
  return true;
}

function childMoves({ children }: RolloutWorld, budget: Budget): Move[] {
  return children.flatMap(({ nodeId }, index) => {
    const step = (lost: boolean) => (next: RolloutWorld) => {
      checkFirstStep(next, next.takeFirstStep(index, lost));
      return true;
    };
    const taken: Move = { name: `${nodeId} takes its first step`, budget, make: step(false) };
    if (budget.faults === 0) return [taken];
    const spent = { ...budget, faults: budget.faults - 1 };
    return [taken, { name: `the child of ${nodeId} is lost`, budget: spent, make: step(true) }];
  });
}

/** Outcomes of what runs. */
const OUTCOMES = [
  { name: 'goes well', well: true, undone: false },
  { name: 'fails', well: false, undone: false },
  { name: 'is undone', well: false, undone: true },
];

function attemptMoves({ rows }: RolloutWorld, budget: Budget): Move[] {
  return rows
    .filter((row) => isInFlight(row.status))
    .flatMap(({ nodeId }) =>
      OUTCOMES.map(({ name, well, undone }): Move => {
        const make = (next: RolloutWorld) => {
          const row = next.row(nodeId);
          if (row) next.advance(row, well, undone);
          return row !== undefined;
        };
        return { name: `${nodeId} ${name}`, budget, make };
      }),
    );
}

function orderMoves(world: RolloutWorld, budget: Budget): Move[] {
  const started = world.controls.some(({ kind }) => kind === 'start');
  // the start is free: without it there is nothing to look at
  const left = started ? { ...budget, orders: budget.orders - 1 } : budget;
  return ROLLOUT_CONTROLS.filter((kind) => kind === 'start' || budget.orders > 0).flatMap((kind) => {
    const spent = kind === 'start' ? left : { ...budget, orders: budget.orders - 1 };
    if (kind === 'start' && started) return [];
    const nodes = kind === 'retry' || kind === 'skip' ? world.rows.map(({ nodeId }) => nodeId) : [null];
    return nodes.flatMap((nodeId): Move[] => [
      { name: nodeId ? `${kind} ${nodeId}` : kind, budget: spent, make: (next) => next.order(kind, nodeId) },
      { name: `${kind} by hand`, budget: spent, make: (next) => nodeId === null && next.order(kind, null, true) },
    ]);
  });
}

function faultMoves({ fleet, chain }: RolloutWorld, budget: Budget): Move[] {
  const free: Move[] = [];
  for (const [nodeId, { online, busyWithRolloutId }] of fleet) {
    if (online && busyWithRolloutId === null) continue;
    free.push({ name: `${nodeId} is back`, budget, make: (next) => next.fleet.set(nodeId, aNode(nodeId)).size > 0 });
  }
  if (chain.maxBlockIntervalMs === 1) {
    free.push({ name: 'the chain goes on', budget, make: (next) => setChain(next, null) });
  }
  if (budget.faults === 0) return free;
  const spent = { ...budget, faults: budget.faults - 1 };
  const ill = [...fleet.keys()].flatMap((nodeId): Move[] => [
    { name: `${nodeId} goes offline`, budget: spent, make: (next) => setHost(next, nodeId, { online: false }) },
    { name: `${nodeId} is ill`, budget: spent, make: (next) => setHost(next, nodeId, { state: 'degraded' }) },
    { name: `${nodeId} is busy`, budget: spent, make: (next) => setHost(next, nodeId, { busyWithRolloutId: 'r0' }) },
  ]);
  return [...free, ...ill, { name: 'the chain halts', budget: spent, make: (next) => setChain(next, 1) }];
}

function setHost(world: RolloutWorld, nodeId: string, over: Parameters<typeof aNode>[1]): boolean {
  world.fleet.set(nodeId, aNode(nodeId, over));
  return true;
}

function setChain(world: RolloutWorld, maxBlockIntervalMs: number | null): boolean {
  world.chain = aChain({ bestHeight: 1, heightGrewAt: 0, maxBlockIntervalMs });
  return true;
}
