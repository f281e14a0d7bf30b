import { payloadCipher } from '../db/payload-cipher.ts';
import { startGateway } from '../gateway/gateway.ts';
import { readTlsFiles, watchTlsFiles } from '../gateway/tls-files.ts';
import { nameRunningComponent } from '../nodes/naming.ts';
import type { ProcessParts } from './process-parts.ts';
import { NEVER_FAILS, type RunningRole } from './role.ts';

/** Agents' streams on one side, rows on the other. */
export async function startGatewayRole(parts: ProcessParts): Promise<RunningRole> {
  const { db, log, config, chains, manifests, notifications } = parts;
  const tls = config.gatewayTls && (await readTlsFiles(config.gatewayTls));
  const gateway = await startGateway({
    db,
    log,
    notifications,
    chainHealth: parts.chainHealth,
    listen: config.gatewayListen,
    tls,
    heartbeatIntervalMs: config.heartbeatIntervalMs,
    openPayload: payloadCipher(config.payloadKeys).open,
    checksumSeen: async (nodeId, binaryName, runningChecksum) => {
      const component = { nodeId, binaryName, runningChecksum, installedChecksum: null };
      await nameRunningComponent(db, { chains, manifests }, component);
    },
  });
  const unwatch =
    config.gatewayTls && tls
      ? watchTlsFiles(config.gatewayTls, tls, { log, changed: (changed) => gateway.replaceTls(changed) })
      : () => undefined;
  return {
    name: 'gateway',
    address: gateway.address,
    failed: NEVER_FAILS,
    stop: async () => {
      unwatch();
      await gateway.stop();
    },
  };
}
