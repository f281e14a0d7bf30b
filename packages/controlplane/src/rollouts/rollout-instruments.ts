import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** From a rolling restart of one small node to a fleet that goes node by node over a day. */
const ROLLOUT_SECONDS = [30, 60, 300, 900, 3600, 4 * 3600, 24 * 3600];
const NODE_SECONDS = [5, 15, 30, 60, 120, 300, 600, 1800];

/**
 * Spec "Prometheus Metrics": these names, types and labels.
 * @param lead whether this process is the one that counts. One that was shows no gauge any more: another instance shows
 *   what is active, and the rollouts that this one last saw may have ended
 */
export function rolloutInstruments(registry: Registry, lead: () => boolean = () => true) {
  const registers = [registry];
  function collect(this: Gauge): void {
    if (!lead()) this.reset();
  }
  return {
    rollouts: new Counter({
      name: 'hoodcloud_rollout_total',
      help: 'Rollouts that ended, by how.',
      labelNames: ['chain', 'strategy', 'status'],
      registers,
    }),
    rolloutSeconds: new Histogram({
      name: 'hoodcloud_rollout_duration_seconds',
      help: 'From start to end of a rollout.',
      labelNames: ['chain', 'strategy', 'status'],
      buckets: ROLLOUT_SECONDS,
      registers,
    }),
    nodes: new Counter({
      name: 'hoodcloud_rollout_node_upgrades_total',
      help: 'Attempts on nodes that ended, by how.',
      labelNames: ['chain', 'status'],
      registers,
    }),
    nodeSeconds: new Histogram({
      name: 'hoodcloud_rollout_node_upgrade_duration_seconds',
      help: 'From start to end of an attempt on a node, its proof of health included.',
      labelNames: ['chain', 'status'],
      buckets: NODE_SECONDS,
      registers,
    }),
    active: new Gauge({
      name: 'hoodcloud_rollout_active',
      help: 'Rollouts that are pending, running or paused.',
      labelNames: ['chain'],
      registers,
      collect,
    }),
    progress: new Gauge({
      name: 'hoodcloud_rollout_progress',
      help: 'Share of an active rollout whose nodes have ended, 0 to 1.',
      labelNames: ['chain', 'rollout_id'],
      registers,
      collect,
    }),
    phases: new Gauge({
      name: 'hoodcloud_rollout_node_phase',
      help: 'Nodes of an active rollout by their phase.',
      labelNames: ['chain', 'rollout_id', 'phase'],
      registers,
      collect,
    }),
  };
}

export type RolloutInstruments = ReturnType<typeof rolloutInstruments>;
