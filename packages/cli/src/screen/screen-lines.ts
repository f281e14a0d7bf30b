import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { nodeBatchName, progressOf, sentencesOf, versionsOf } from '@hoodcloud/contracts/http/view-text';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';

/** How a line looks; without colours its words say the same. */
export type Tone = 'plain' | 'strong' | 'dim' | 'good' | 'busy' | 'bad';

/** A line of the screen. */
export interface Line {
  readonly text: string;
  readonly tone: Tone;
}

export const line = (text: string, tone: Tone = 'plain'): Line => ({ text, tone });

/** What is upgraded, where, and since when. */
export function headOf(rollout: RolloutDetail, now: Date): string {
  const since = renderDuration(now.getTime() - Date.parse(rollout.started_at ?? rollout.created_at));
  const { binary_name: binary, chain_profile_id: chain, strategy, status } = rollout;
  return `${binary} ${versionsOf(rollout)} · ${chain} · ${strategy} · ${status} ${since}`;
}

/** How near the failures are to the limit (C5). */
export function thresholdOf(rollout: RolloutDetail): Line {
  const {
    counted_failures: failed,
    attempted_nodes: attempted,
    failure_threshold: limit,
    max_failures: most,
  } = rollout;
  const share = attempted === 0 ? 0 : failed / attempted;
  const percent = (value: number) => `${Math.round(value * 1000) / 10} %`;
  const absolute = most === null ? '' : `, at most ${most}`;
  const ignored = rollout.threshold_ignored ? '; ignored' : '';
  const text = `Failures ${failed} of ${attempted} attempted: ${percent(share)}, limit ${percent(limit)}${absolute}${ignored}`;
  return line(text, failed === 0 ? 'plain' : 'bad');
}

/** How far it is, and the best height that a node of it reports. */
export function progressLine(rollout: RolloutDetail, nodes: readonly RolloutNodeView[]): string {
  const height = bestHeight(nodes);
  return `${progressOf(rollout)}${height === null ? '' : ` · chain height ${height}`}`;
}

/** The best height that any node of the rollout reports; null when none does. */
export function bestHeight(nodes: readonly RolloutNodeView[]): number | null {
  let best: number | null = null;
  for (const { height } of nodes) if (height !== null && (best === null || height > best)) best = height;
  return best;
}

function toneOf({ status }: RolloutNodeView): Tone {
  if (status === 'succeeded') return 'good';
  if (isInFlight(status)) return 'busy';
  return status === 'failed' || status === 'rolled_back' ? 'bad' : 'dim';
}

/** A node's columns: name, batch, status, phase with the time in it, why. */
export function nodeLine(rollout: RolloutDetail, node: RolloutNodeView, now: Date): Line {
  const since = node.phase_changed_at ?? node.started_at;
  const moving = isInFlight(node.status) && since !== null;
  const time = moving ? ` ${renderDuration(now.getTime() - Date.parse(since))}` : '';
  const phase = node.upgrade_phase === null ? '-' : `${node.upgrade_phase}${time}`;
  const batch = nodeBatchName(rollout, node);
  return line(columns([node.node_name, batch, node.status, phase, sentencesOf(node.why)]), toneOf(node));
}

const WIDTHS = [22, 8, 13, 22] as const;

/** Cells one beside the other; the last takes what is left. */
export function columns(cells: readonly string[]): string {
  return cells.map((cell, at) => fit(cell, WIDTHS[at])).join(' ');
}

function fit(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}

/** Of many nodes those in flight and those that failed come first: they are what people look for. */
export function inOrder(nodes: readonly RolloutNodeView[]): readonly RolloutNodeView[] {
  const rank = ({ status }: RolloutNodeView) =>
    isInFlight(status) ? 0 : status === 'failed' || status === 'rolled_back' ? 1 : status === 'pending' ? 2 : 3;
  return nodes.toSorted((left, right) => rank(left) - rank(right));
}
