import { readFile } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { startGateway } from '../gateway/gateway.ts';
import type { GatewayTls } from '../gateway/gateway-server.ts';
import type { ChainHealthSource } from '../health/chain-health.ts';
import type { ChainFiles } from '../manifests/chain-files.ts';
import { ConfigFileNotFoundError } from '../manifests/config-dir.ts';
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
    chainHealth: chainHealthSource(chains),
    listen: config.gatewayListen,
    tls: await readTls(config),
    checksumSeen: async (nodeId, binaryName, runningChecksum) => {
      const component = { nodeId, binaryName, runningChecksum, installedChecksum: null };
      await nameRunningComponent(db, { chains, manifests }, component);
    },
  });
  return { name: 'gateway', address: gateway.address, failed: NEVER_FAILS, stop: () => gateway.stop() };
}

/** The health rules of a chain's profile; null for a chain without one: then nothing is judged. */
export function chainHealthSource(chains: ChainFiles): ChainHealthSource {
  return async (chainProfileId) => {
    try {
      return (await chains.profile(chainProfileId)).profile.health;
    } catch (error) {
      if (error instanceof ConfigFileNotFoundError) return null;
      throw error;
    }
  };
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
