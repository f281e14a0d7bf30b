import type { TransitionTable } from './transition.ts';

/** The nine node states (D0); `terminated` and `failed` are final. */
export const NODE_STATES = [
  'provisioning',
  'syncing',
  'healthy',
  'degraded',
  'down',
  'maintenance',
  'terminating',
  'terminated',
  'failed',
] as const;
export type NodeState = (typeof NODE_STATES)[number];

export const NODE_STATE_TRANSITIONS: TransitionTable<NodeState> = {
  provisioning: ['syncing', 'healthy', 'degraded', 'down', 'maintenance', 'terminating', 'failed'],
  syncing: ['healthy', 'degraded', 'down', 'maintenance', 'terminating'],
  healthy: ['syncing', 'degraded', 'down', 'maintenance', 'terminating'],
  degraded: ['syncing', 'healthy', 'down', 'maintenance', 'terminating'],
  down: ['syncing', 'healthy', 'degraded', 'maintenance', 'terminating'],
  maintenance: ['syncing', 'healthy', 'degraded', 'down', 'terminating'],
  terminating: ['terminated', 'failed'],
  terminated: [],
  failed: [],
};

/** How well the application says it is, judged in the control plane from metrics (D0a). */
export const APPLICATION_HEALTHS = ['ok', 'degraded', 'critical', 'unknown'] as const;
export type ApplicationHealth = (typeof APPLICATION_HEALTHS)[number];

export const SYNC_STATUSES = ['synced', 'syncing', 'stalled', 'unknown'] as const;
export type SyncStatus = (typeof SYNC_STATUSES)[number];
