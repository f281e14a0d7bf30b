import { ensureTemporal } from '../temporal/ensure.mjs';
import { ensureDependencies } from './dependencies.mjs';
import { ensurePostgresBinaries } from './postgres-binaries.mjs';

/**
 * Makes a fresh clone ready. Every verb calls it first; it does nothing when all is there. What it finds reaches the
 * programs it starts by environment variables: HOODCLOUD_POSTGRES_NATIVE, and TEMPORAL_ADDRESS or HOODCLOUD_TEMPORAL_BIN.
 * The network is busy with npm while the processors build the Temporal server.
 * @param {{ stores?: boolean }} needs `stores`: the verb starts Postgres and Temporal
 */
export async function setUp({ stores = false } = {}) {
  const installed = ensureDependencies();
  if (!stores) return installed;
  const [temporal] = await Promise.all([ensureTemporal({ installed }), installed.then(ensurePostgresBinaries)]);
  if (temporal.kind === 'program') process.env.HOODCLOUD_TEMPORAL_BIN = temporal.path;
}
