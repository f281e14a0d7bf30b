import { Counter, Gauge } from 'prom-client';
import { metrics } from '../telemetry/registry.ts';
import type { ResultFate } from './command-result.ts';

const registers = [metrics];

/** Streams that this process holds. */
export const connectedAgents = new Gauge({
  name: 'hoodcloud_gateway_connected_agents',
  help: 'Agent streams that this gateway holds.',
  registers,
});

const refused = new Counter({
  name: 'hoodcloud_gateway_refused_streams_total',
  help: 'Streams that were not let in or were ended for what came on them, by gRPC status.',
  labelNames: ['status'],
  registers,
});

const heartbeats = new Counter({
  name: 'hoodcloud_gateway_heartbeats_total',
  help: 'Heartbeats by whether they were stored or came on a session that was over.',
  labelNames: ['result'],
  registers,
});

const deliveries = new Counter({
  name: 'hoodcloud_gateway_command_deliveries_total',
  help: 'Commands sent to agents; more than commands, since delivery is at least once.',
  registers,
});

const results = new Counter({
  name: 'hoodcloud_gateway_command_results_total',
  help: 'Results of agents by what became of them.',
  labelNames: ['fate'],
  registers,
});

export function countRefusedStream(status: string): void {
  refused.inc({ status });
}

export function countHeartbeats(result: 'stored' | 'session_over', count: number): void {
  if (count > 0) heartbeats.inc({ result }, count);
}

export function countDelivery(): void {
  deliveries.inc();
}

export function countResult(fate: ResultFate): void {
  results.inc({ fate });
}
