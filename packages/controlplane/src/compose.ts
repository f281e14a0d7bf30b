import type { Client } from '@temporalio/client';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { activityHeartbeats } from './engine/activity-heartbeats.ts';
import { commandExpiry } from './engine/command-expiry.ts';
import { engineRelay } from './engine/engine-relay.ts';
import { engineSweep } from './engine/engine-sweep.ts';
import { eventRelay } from './events/event-relay.ts';
import type { Feature, Services } from './feature.ts';
import type { TargetSources } from './rollouts/judge-targets.ts';
import { maintenanceCleanup } from './rollouts/maintenance-cleanup.ts';
import { nodeUpgradeActivities } from './rollouts/node-upgrade-activities.ts';
import { rolloutActivities } from './rollouts/rollout-activities.ts';

/** What the features of one process share. */
export interface Parts extends Services {
  readonly config: Config;
  readonly engine: Client;
  readonly targets: TargetSources;
}

/** Every feature of the control plane; a role takes from each what it runs (design, "a role is a filter over features"). */
export function composeFeatures(parts: Parts): Feature[] {
  return [rolloutsFeature(parts), engineFeature(parts), eventsFeature(parts.db)];
}

function rolloutsFeature({ db, targets, config }: Parts): Feature {
  return {
    name: 'rollouts',
    activities: { ...rolloutActivities(db, targets), ...nodeUpgradeActivities(db, targets) },
    reconcilers: [maintenanceCleanup(db, config.maintenanceCleanupMs)],
  };
}

function engineFeature({ db, engine, config }: Parts): Feature {
  return {
    name: 'engine',
    reconcilers: [
      engineRelay(db, engine, config.engine.taskQueue),
      activityHeartbeats(db, engine),
      engineSweep(db),
      commandExpiry(db),
    ],
  };
}

function eventsFeature(db: Database): Feature {
  return { name: 'events', reconcilers: [eventRelay(db)] };
}
