import { existsSync } from 'node:fs';
import { findOnPath } from '../bootstrap/paths.mjs';
import { buildDevServer, cachedDevServer, goVersion } from './build.mjs';
import { downloadBySdk } from './download-by-sdk.mjs';

/**
 * Finds a real Temporal server or makes one, in this order: TEMPORAL_ADDRESS names a running one; HOODCLOUD_TEMPORAL_BIN
 * names a program; `temporal` is on PATH; an earlier build is in the cache; Go is here, so build tools/temporal-dev-server;
 * else the Temporal SDK's own download. The same order is documented in docs/testing.md.
 * @param {{ installed?: Promise<void> }} options `installed`: when npm's packages are there, which only the SDK's download needs
 * @returns {Promise<{ kind: 'address', address: string } | { kind: 'program', path: string }>} a program named `temporal-dev-server`
 *   is ours, any other is the CLI (`temporal server start-dev`)
 */
export async function ensureTemporal({ installed } = {}) {
  const { TEMPORAL_ADDRESS: address, HOODCLOUD_TEMPORAL_BIN: named } = process.env;
  if (address) return { kind: 'address', address };
  if (named && existsSync(named)) return { kind: 'program', path: named };
  const path = findOnPath('temporal') ?? cachedDevServer();
  if (path) return { kind: 'program', path };
  if (goVersion().newEnough) return { kind: 'program', path: await buildDevServer() };
  await installed;
  return { kind: 'program', path: await downloadBySdk() };
}
