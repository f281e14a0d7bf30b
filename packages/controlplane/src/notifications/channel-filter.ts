import { NOTIFICATION_EVENTS } from '@hoodcloud/contracts/events/event-kinds';
import type { ChannelConfig } from '@hoodcloud/contracts/files/notification-channels';
import type { EventView } from '@hoodcloud/contracts/http/events';

export type ChannelFilter = Pick<ChannelConfig, 'events' | 'chains' | 'min_severity'>;

const WEIGHT = { info: 0, warning: 1, critical: 2 } as const;

/** Whether a channel is told of an event. One without a chain (an incident of a node that is gone) passes no chain filter. */
export function wants({ events, chains, min_severity }: ChannelFilter, event: EventView): boolean {
  if (events === undefined ? !isUsual(event) : events !== 'all' && !events.includes(event.kind)) return false;
  if (chains && (event.chain_profile_id === null || !chains.includes(event.chain_profile_id))) return false;
  return WEIGHT[event.severity] >= WEIGHT[min_severity];
}

/** What a channel is told that asks for nothing else. */
function isUsual({ kind, severity }: EventView): boolean {
  const usual: readonly string[] = NOTIFICATION_EVENTS;
  return usual.includes(kind) && (kind !== 'incident_opened' || severity === 'critical');
}
