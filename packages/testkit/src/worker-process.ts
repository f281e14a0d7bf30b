import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChildServer } from '@hoodcloud/controlplane/dev/child-server';
import type { RolloutLab } from './rollout-lab.ts';

const PROGRAM = fileURLToPath(new URL('../../controlplane/src/bin/hoodcloud.ts', import.meta.url));
const READY_MS = 90_000;

/** The real `hoodcloud worker` as a process of its own on a lab's stores, so that it can be killed. */
export class WorkerProcess {
  readonly #server: ChildServer;
  readonly #folder: string;

  private constructor(server: ChildServer, folder: string) {
    this.#server = server;
    this.#folder = folder;
  }

  /** Answers when the worker polls for tasks. */
  static async start(lab: RolloutLab): Promise<WorkerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-worker-'));
    const server = new ChildServer({
      name: 'worker',
      program: process.execPath,
      args: ['--import', 'tsx', PROGRAM, 'worker'],
      logFile: join(folder, 'worker.log'),
      env: {
        ...process.env,
        DATABASE_URL: lab.database.url,
        TEMPORAL_ADDRESS: lab.temporalAddress,
        HOODCLOUD_TASK_QUEUE: lab.taskQueue,
        HOODCLOUD_CONFIG_DIR: folder,
        HOODCLOUD_METRICS_LISTEN: '127.0.0.1:0',
      },
    });
    const worker = new WorkerProcess(server, folder);
    await server.waitUntilReady(() => isUp(join(folder, 'worker.log')), READY_MS);
    return worker;
  }

  async kill(): Promise<void> {
    await this.#server.stop('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.#server.stop('SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function isUp(logFile: string): Promise<void> {
  if (!(await readFile(logFile, 'utf8')).includes('worker is up'))
    throw new Error('the worker has not said that it is up');
}
