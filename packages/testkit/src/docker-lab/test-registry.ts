import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HostLabError } from '../host-lab/lab-command.ts';
import { pushImage, pushImageList, type RegistryTarget, type TestImage } from './image-push.ts';
import { type ServiceVersion, serviceImage } from './service-image.ts';

/** The one account of a registry that asks for credentials; the file names the password's bcrypt hash. */
export const REGISTRY_ACCOUNT = { username: 'lab', password: 'lab-password' } as const;
const HTPASSWD = 'lab:$2b$04$uJMoDjeHTNh8bfywoWjsUeZsVKJHpLrUpNu1Zaxo5IGAWfOz8wqOy\n';

interface RegistryOptions {
  /** Where its data lie; removed with it. */
  readonly folder: string;
  /** IP address to listen at. */
  readonly listenAt: string;
  readonly credentials?: boolean;
}

/** A real image registry (Debian's `docker-registry`) over plain HTTP, which ends with this process however that ends. */
export class TestRegistry {
  readonly #options: RegistryOptions;
  #process: ChildProcess | undefined;
  #port = 0;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** `ip:port`, as it stands at the front of image references. */
  get address(): string {
    return `${this.#options.listenAt}:${this.#port}`;
  }

  /** Starts it, at the same port as before when it was stopped; resolves when it answers. */
  async start(): Promise<void> {
    const { folder, listenAt, credentials } = this.#options;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'htpasswd'), HTPASSWD);
    const file = join(folder, 'registry.yml');
    await writeFile(
      file,
      JSON.stringify({
        version: 0.1,
        log: { level: 'info' },
        storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
        http: { addr: `${listenAt}:${this.#port}` },
        ...(credentials ? { auth: { htpasswd: { realm: 'lab', path: join(folder, 'htpasswd') } } } : {}),
      }),
    );
    // The registry goes with us, also when we are killed.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'docker-registry', 'serve', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    this.#port = await listeningPort(child);
  }

  /** Ends it; its images stay for the next `start()`. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Pushes any image under `name` (`app:v1`); answers `registry/app@sha256:…`. */
  push(name: string, image: TestImage): Promise<string> {
    return pushImage(this.#target(), name, image);
  }

  /** Pushes the test service; answers its reference by digest. */
  pushService(repository: string, service: ServiceVersion): Promise<string> {
    return this.push(`${repository}:${service.version}`, serviceImage(service));
  }

  /** Pushes one image per architecture under one name; answers the reference of the list. */
  pushList(name: string, images: readonly TestImage[]): Promise<string> {
    return pushImageList(this.#target(), name, images);
  }

  #target(): RegistryTarget {
    return { address: this.address, ...(this.#options.credentials ? { credentials: REGISTRY_ACCOUNT } : {}) };
  }
}

/** The port from the registry's own line `listening on 198.18.1.1:41234`; it may be the one we asked for or any free one. */
async function listeningPort(child: ChildProcess): Promise<number> {
  let said = '';
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = error;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 65_536) said += text;
  });
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(10)) {
    const port = /listening on [\d.]+:(\d+)/.exec(said)?.[1];
    if (port !== undefined) return Number(port);
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) break;
  }
  child.kill('SIGKILL');
  throw new HostLabError(`the registry did not start: ${failure?.message ?? said}`);
}
