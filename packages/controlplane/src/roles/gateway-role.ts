import { readFile } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { payloadCipher } from '../db/payload-cipher.ts';
import { startGateway } from '../gateway/gateway.ts';
import type { GatewayTls } from '../gateway/gateway-server.ts';
import { nameRunningComponent } from '../nodes/naming.ts';
import type { ProcessParts } from './process-parts.ts';
import { NEVER_FAILS, type RunningRole } from './role.ts';

/** Agents' streams on one side, rows on the other. */
export async function startGatewayRole(parts: ProcessParts): Promise<RunningRole> {
  const { db, log, config, chains, manifests, notifications } = parts;
  const gateway = await startGateway({
    db,
    log,
    notifications,
    chainHealth: parts.chainHealth,
    listen: config.gatewayListen,
    tls: await readTls(config),
    heartbeatIntervalMs: config.heartbeatIntervalMs,
    openPayload: payloadCipher(config.payloadKeys).open,
    checksumSeen: async (nodeId, binaryName, runningChecksum) => {
      const component = { nodeId, binaryName, runningChecksum, installedChecksum: null };
      await nameRunningComponent(db, { chains, manifests }, component);
    },
  });
  return { name: 'gateway', address: gateway.address, failed: NEVER_FAILS, stop: () => gateway.stop() };
}

async function readTls({ gatewayTls }: Config): Promise<GatewayTls | null> {
  if (gatewayTls === null) return null;
  const { key, certificate, clientAuthority } = gatewayTls;
  return {
    key: await readFile(key, 'utf8'),
    certificate: await readFile(certificate, 'utf8'),
    clientAuthority: clientAuthority === null ? null : await readFile(clientAuthority, 'utf8'),
  };
}
