import type { Page } from '@hoodcloud/contracts/http/common';
import type { ApiClient, Query } from './api-client.ts';

/** Every path of the API that the CLI calls, in one place. */
export const PATHS = {
  rollouts: '/api/v1/rollouts',
  rolloutPlan: '/api/v1/rollouts/plan',
  rollout: (id: string) => `/api/v1/rollouts/${id}`,
  rolloutControl: (id: string, control: string) => `/api/v1/rollouts/${id}/${control}`,
  rolloutEvents: (id: string) => `/api/v1/rollouts/${id}/events`,
  rolloutNodes: (id: string) => `/api/v1/rollouts/${id}/nodes`,
  rolloutNodeLogs: (id: string, nodeId: string) => `/api/v1/rollouts/${id}/nodes/${nodeId}/logs`,
  rolloutNodeControl: (id: string, nodeId: string, control: string) =>
    `/api/v1/rollouts/${id}/nodes/${nodeId}/${control}`,
  groups: '/api/v1/rollout-groups',
  group: (id: string) => `/api/v1/rollout-groups/${id}`,
  groupStatus: (id: string) => `/api/v1/rollout-groups/${id}/status`,
  groupControl: (id: string, control: string) => `/api/v1/rollout-groups/${id}/${control}`,
  nodes: '/api/v1/nodes',
  node: (id: string) => `/api/v1/nodes/${id}`,
  nodeJoinToken: (id: string) => `/api/v1/nodes/${id}/join-token`,
  nodeVersion: (id: string, binary: string) => `/api/v1/nodes/${id}/components/${encodeURIComponent(binary)}/version`,
  incidents: '/api/v1/incidents',
  incident: (id: string) => `/api/v1/incidents/${id}`,
  incidentControl: (id: string, control: string) => `/api/v1/incidents/${id}/${control}`,
  notificationChannels: '/api/v1/notifications/channels',
  notificationChannelControl: (name: string, control: string) =>
    `/api/v1/notifications/channels/${encodeURIComponent(name)}/${control}`,
  notificationDeliveries: '/api/v1/notifications/deliveries',
  notificationDelivery: (id: string) => `/api/v1/notifications/deliveries/${id}`,
  notificationDeliveryRetry: (id: string) => `/api/v1/notifications/deliveries/${id}/retry`,
  apiKeys: '/api/v1/api-keys',
  apiKey: (id: string) => `/api/v1/api-keys/${id}`,
} as const;

/** Reads every page of a list. */
export async function allPages<Item>(api: ApiClient, path: string, query: Query = {}): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await api.get<Page<Item>>(path, { ...query, cursor, limit: 500 });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}
