import { UPGRADE_ACTIONS } from '@hoodcloud/agent/upgrade/action-list';

/** How the agent is torn out of its work: SIGKILL to its process, or the power of its host. */
export type Cut = 'agent_killed' | 'power_lost';
export type Adapter = 'systemd' | 'process';

/** One crash: at a named point of an upgrade, by one way, under one adapter. */
export interface CrashCell {
  readonly adapter: Adapter;
  readonly cut: Cut;
  /** A fault point of the agent: `before:install_artifact`. */
  readonly point: string;
  /** `good` goes through when the agent is back; `bad` ends at once when it is started, so the crash hits the undo. */
  readonly release: 'good' | 'bad';
}

const ACTIONS = UPGRADE_ACTIONS.map(({ name }) => name);
const UNDONE = [...ACTIONS.filter((name) => name !== 'stop_node').toReversed(), 'stop_node'];

/** Before and after each of the eight steps, and around the writing of the outcome. */
export const FORWARD_POINTS: readonly string[] = [
  ...ACTIONS.flatMap((name) => [`before:${name}`, `after:${name}`]),
  'before-outcome',
  'after-outcome',
];

/** Before and after the undo of each step, in the order of the undo (A1). */
export const UNDO_POINTS: readonly string[] = [
  'before-undo',
  ...UNDONE.flatMap((name) => [`before-undo:${name}`, `after-undo:${name}`]),
];

/** The crashes of one column of the table, in the order of the points. */
export function cellsOf(adapter: Adapter, cut: Cut, release: CrashCell['release']): CrashCell[] {
  const points = release === 'good' ? FORWARD_POINTS : UNDO_POINTS;
  return points.map((point) => ({ adapter, cut, point, release }));
}

/** A cell's name, for tests and files. */
export function nameOf({ adapter, cut, point, release }: CrashCell): string {
  return `${adapter} ${cut} ${release} ${point}`;
}
