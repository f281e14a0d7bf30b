import { sql } from 'kysely';
import type { Parts } from '../compose.ts';
import type { Config } from '../config.ts';
import { GoTemplateRenderer } from '../config-rendering/go-template-renderer.ts';
import { renderForNodes } from '../config-rendering/render-for-nodes.ts';
import { openDatabase, openPool } from '../db/database.ts';
import { Notifications } from '../db/notifications.ts';
import { payloadCipher } from '../db/payload-cipher.ts';
import { openEngineClient } from '../engine/temporal-connection.ts';
import { NatsPublisher } from '../events/nats-publisher.ts';
import type { Logger } from '../feature.ts';
import type { ChainHealthSource } from '../health/chain-health.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { ConfigFileNotFoundError } from '../manifests/config-dir.ts';
import { FileReader } from '../manifests/file-reader.ts';
import { probeArtifactByHead } from '../rollouts/plan/probe-artifact.ts';

/** What the roles of one process share. */
export interface ProcessParts extends Parts {
  /** Rejects with the reason while the database can't be asked. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Opens what every role needs; connections are made when they are used, so that a role starts while a store is away. */
export async function openProcessParts(config: Config, log: Logger): Promise<ProcessParts> {
  const pool = openPool(config.databaseUrl, {
    max: config.databaseConnections,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke; the next query makes another'),
  });
  const db = openDatabase(pool);
  const chains = new ChainFiles(() => config.configDir, config.manifestKeys);
  const renderer = new GoTemplateRenderer();
  const engine = openEngineClient(config.engine);
  const eventPublisher = config.nats && new NatsPublisher(config.nats);
  const notifications = await Notifications.open(config.databaseUrl, (error) =>
    log.warn({ err: error }, 'the connection that hears of news was lost; it is made again'),
  );
  return {
    config,
    log,
    db,
    chains,
    manifests: new FileReader(() => config.configDir, config.manifestKeys),
    notifications,
    engine: engine.client,
    chainHealth: chainHealthSource(chains),
    eventPublisher,
    targets: { chains, renderConfigs: renderForNodes(db, renderer), payloads: payloadCipher(config.payloadKeys) },
    plans: { renderer, probeArtifact: probeArtifactByHead() },
    ready: async () => {
      await sql`select 1`.execute(db);
    },
    close: async () => {
      await notifications.close();
      await eventPublisher?.close();
      await engine.close();
      await renderer.close();
      await db.destroy();
    },
  };
}

/** The health rules of a chain's profile; null for a chain without one: then nothing is judged. */
function chainHealthSource(chains: ChainFiles): ChainHealthSource {
  return async (chainProfileId) => {
    try {
      const { health, duties, quorum } = (await chains.profile(chainProfileId)).profile;
      return { ...health, duties, quorum };
    } catch (error) {
      if (error instanceof ConfigFileNotFoundError) return null;
      throw error;
    }
  };
}
