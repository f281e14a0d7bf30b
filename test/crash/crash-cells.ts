import { UPGRADE_ACTIONS } from '@hoodcloud/agent/upgrade/action-list';
import type { Adapter } from './runtimes.ts';

/** What befalls the agent or its host in the middle of its work. */
export const FAULTS = [
  'agent_killed',
  'power_lost',
  'disk_full',
  'read_only',
  'network_cut',
  'control_plane_gone',
] as const;
export type Fault = (typeof FAULTS)[number];

/** One fault: at a named point of an upgrade, under one runtime. */
export interface CrashCell {
  readonly adapter: Adapter;
  readonly fault: Fault;
  /** A fault point of the agent: `before:install_artifact`. */
  readonly point: string;
  /**
   * `good` goes through when nothing is in its way; `bad` ends at once when it is started, so the fault hits the undo;
   * `recalled` was upgraded to and failed its validation, so the fault hits the undo that a COMPENSATE ordered.
   */
  readonly release: 'good' | 'bad' | 'recalled';
}

const ACTIONS = UPGRADE_ACTIONS.map(({ name }) => name);
const UNDONE = [...ACTIONS.filter((name) => name !== 'stop_node').toReversed(), 'stop_node'];

/** Before, in the middle of and after each of the eight steps, and around the writing of the outcome. */
export const FORWARD_POINTS: readonly string[] = [
  ...ACTIONS.flatMap((name) => [`before:${name}`, `during:${name}`, `after:${name}`]),
  'before-outcome',
  'after-outcome',
];

/** Before, in the middle of and after the undo of each step, in the order of the undo (A1). */
export const UNDO_POINTS: readonly string[] = [
  'before-undo',
  ...UNDONE.flatMap((name) => [`before-undo:${name}`, `during-undo:${name}`, `after-undo:${name}`]),
];

/** What an ordered undo does otherwise: it stops a node that runs well. The rest of it is the undo of a bad release. */
const RECALL_POINTS = [
  'before-undo:start_node',
  'during-undo:start_node',
  'after-undo:start_node',
  'after-undo:install_artifact',
  'before-undo:stop_node',
];

/** Everything that one fault can hit under one runtime. */
export function cellsOf(adapter: Adapter, fault: Fault): CrashCell[] {
  return [
    ...FORWARD_POINTS.map((point): CrashCell => ({ adapter, fault, point, release: 'good' })),
    ...UNDO_POINTS.map((point): CrashCell => ({ adapter, fault, point, release: 'bad' })),
    ...RECALL_POINTS.map((point): CrashCell => ({ adapter, fault, point, release: 'recalled' })),
  ];
}

/** Every `nth` cell, each adapter and fault beginning at another place, so that every point is met under some of them. */
export function sampleCells(cells: readonly CrashCell[], nth: number, begin: number): CrashCell[] {
  return cells.filter((_, index) => (index + begin) % nth === 0);
}

/** A cell's name, for tests and files. */
export function nameOf({ adapter, fault, point, release }: CrashCell): string {
  return `${adapter} ${fault} ${release} ${point}`;
}
