import { Counter } from 'prom-client';
import { metrics } from '../telemetry/registry.ts';

const notifications = new Counter({
  name: 'hoodcloud_notifications_total',
  help: 'Notifications by channel and what became of a try: delivered, failed (tried again), dead (given up).',
  labelNames: ['channel', 'result'],
  registers: [metrics],
});

/** Counts one try; channels are as many as the configuration names. */
export function countNotification(channel: string, result: 'delivered' | 'failed' | 'dead'): void {
  notifications.inc({ channel, result });
}
