import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stage } from '../stage/stage.ts';
import type { ControlPlaneAccess } from './control-plane-access.ts';

const PROGRAM = fileURLToPath(new URL('../../../packages/controlplane/src/bin/hoodcloud.ts', import.meta.url));
/** Beside a first build of the releases everything takes its time. */
const READY_MS = 300_000;

/** Starts every role in one process with Postgres and the Temporal server as its children, and waits until it is ready. */
export async function startControlPlane(stage: Stage, chainFolder: string): Promise<ControlPlaneAccess> {
  const { folder, ports, cast, narrator } = stage;
  const dataFolder = folder.at('control-plane');
  const server = cast.start('control-plane', process.execPath, ['--import', 'tsx', PROGRAM, 'dev'], {
    ...process.env,
    HOODCLOUD_DATA_DIR: dataFolder,
    HOODCLOUD_CONFIG_DIR: chainFolder,
    HOODCLOUD_API_PORT: String(ports.api),
    HOODCLOUD_GATEWAY_PORT: String(ports.gateway),
    HOODCLOUD_TEMPORAL_UI_PORT: String(ports.temporalUi),
  });
  let access: ControlPlaneAccess | undefined;
  await server.waitUntilReady(async () => {
    access = await askForAccess(dataFolder, server.pid);
  }, READY_MS);
  if (!access) throw new Error('a control plane that is ready says where');
  narrator.say(`The control plane is ready: ${access.url} (all roles in one process, Postgres and Temporal beside it)`);
  return access;
}

/** What the dev role tells other programs of this machine. @throws Error until it is this process' and the API answers */
async function askForAccess(dataFolder: string, pid: number): Promise<ControlPlaneAccess> {
  const told = JSON.parse(await readFile(join(dataFolder, 'dev.json'), 'utf8'));
  if (told.pid !== pid) throw new Error('dev.json is of an earlier run');
  const ready = await fetch(`${told.url}/readyz`);
  if (!ready.ok) throw new Error(`/readyz answers ${ready.status}`);
  return { url: told.url, apiKey: told.api_key, temporalUi: told.temporal_ui };
}
