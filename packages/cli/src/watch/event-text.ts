import type { EventView } from '@hoodcloud/contracts/http/events';
import { renderClock } from '../output/time.ts';

const MARKS = { info: ' ', warning: '!', critical: '‼' } as const;

/** One event as one line: clock (UTC), mark of severity, whom it is about, what happened, why. */
export function renderEvent(event: EventView): string {
  const subject = event.node_name ?? event.subject_type;
  const why = event.reason?.sentence;
  const what = [describe(event), why].filter((part) => part).join(' · ');
  return `${renderClock(event.occurred_at)} ${MARKS[event.severity]} ${subject.padEnd(12)} ${what}`;
}

function describe({ kind, data }: EventView): string {
  const phase = typeof data.phase === 'string' ? data.phase : null;
  const to = typeof data.to === 'string' ? data.to : null;
  if (kind === 'node_upgrade_phase_changed') return phase ?? to ?? 'phase changed';
  if (kind === 'rollout_control_ordered') return `ordered: ${String(data.kind ?? data.control ?? '?')}`;
  if (kind.startsWith('node_upgrade_') && to) return phase ? `${to} (${phase})` : to;
  if (kind === 'node_state_changed' && to) return `node is ${to}`;
  return kind.replaceAll('_', ' ');
}
