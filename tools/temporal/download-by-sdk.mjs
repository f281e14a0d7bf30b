import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cacheDir, isExecutable } from '../bootstrap/paths.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';

/**
 * The last way to a Temporal server: the test package of Temporal's SDK fetches the `temporal` CLI. It needs the open
 * internet, so the three ways before it are preferred.
 * @returns {Promise<string>} path of the CLI in the cache
 */
export async function downloadBySdk() {
  const folder = join(cacheDir(), 'temporal-cli');
  mkdirSync(folder, { recursive: true });
  if (!findCli(folder)) {
    await step('Downloading the Temporal CLI through Temporal’s SDK', '10-60 s', () => fetchCli(folder));
  }
  const found = findCli(folder);
  if (found) return found;
  throw new SetupError('The SDK’s download left no program behind.', adviceFor());
}

async function fetchCli(folder) {
  const { TestWorkflowEnvironment } = createRequire(import.meta.url)('@temporalio/testing');
  try {
    const server = { executable: { type: 'cached-download', downloadDir: folder } };
    const environment = await TestWorkflowEnvironment.createLocal({ server });
    await environment.teardown();
  } catch (error) {
    throw new SetupError(`The Temporal CLI could not be downloaded: ${error.message}`, adviceFor(), { cause: error });
  }
}

/** The SDK names the file temporal-sdk-typescript-VERSION; whatever it is called, it is the only program there. */
function findCli(folder) {
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .find((path) => !path.endsWith('.downloading') && isExecutable(path));
}

function adviceFor() {
  return 'install Go 1.26 or newer (the server is then built from tools/temporal-dev-server), or put the `temporal` CLI on PATH, or set TEMPORAL_ADDRESS to a running server.';
}
