import { composeFeatures } from '../compose.ts';
import { openChannels } from '../notifications/open-channels.ts';
import { ReconcilerRunner } from '../reconciler-runner.ts';
import type { ProcessParts } from './process-parts.ts';
import { NEVER_FAILS, type RunningRole } from './role.ts';

/** The loops of every feature. */
export async function startReconcilerRole(parts: ProcessParts): Promise<RunningRole> {
  const { config, log } = parts;
  if (config.nats === null) {
    log.info(
      {},
      'NATS is not configured (HOODCLOUD_NATS_URL): events stay in the outbox, served by API and notifications',
    );
  }
  const { notificationsFile } = config;
  const channels = notificationsFile === null ? [] : await openChannels(notificationsFile, process.env);
  const reconcilers = composeFeatures({ ...parts, channels }).flatMap((feature) => feature.reconcilers ?? []);
  const runner = new ReconcilerRunner({ databaseUrl: config.databaseUrl, log, reconcilers });
  await runner.start();
  log.info({ reconcilers: reconcilers.map(({ name }) => name) }, 'reconcilers run');
  return { name: 'reconciler', address: '', failed: NEVER_FAILS, stop: () => runner.stop() };
}
