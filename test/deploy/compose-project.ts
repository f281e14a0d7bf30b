import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINE_SOCKET, engineSocketOnMachine, startEngine } from '@hoodcloud/testkit/docker-lab/docker-host';
import { createLab, type HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { buildImages, IMAGES } from '../../tools/images/build-images.mjs';

const ROOT = join(import.meta.dirname, '../..');
const ON_HOST = '/srv/hoodcloud';
const COMPOSE = '/usr/local/bin/docker-compose';
const FILES = ['-f', `${ON_HOST}/compose.yaml`, '-f', `${ON_HOST}/compose.stand-ins.yaml`];

/** deploy/ with secrets and a folder of chains, on a host of the lab with an engine of its own and the images of this tree. */
export class ComposeProject {
  readonly folder: string;
  readonly host: Host;
  readonly #lab: HostLab;
  #image: string = IMAGES.controlplane;

  private constructor(lab: HostLab, host: Host, folder: string) {
    this.#lab = lab;
    this.host = host;
    this.folder = folder;
  }

  /** @param compose path of Docker Compose 2 */
  static async open(compose: string): Promise<ComposeProject> {
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-deploy-'));
    cpSync(join(ROOT, 'deploy'), folder, { recursive: true });
    const lab = await createLab();
    const binds = [
      { source: folder, target: ON_HOST, writable: true },
      { source: compose, target: COMPOSE },
    ];
    const host = await lab.up('deploy', { binds });
    const project = new ComposeProject(lab, host, folder);
    try {
      await startEngine(lab, host, { limits: true });
      await host.must(`${ON_HOST}/compose/make-secrets.sh`, host.ip);
      await project.#build();
      return project;
    } catch (error) {
      await project.dispose();
      throw error;
    }
  }

  async #build(): Promise<void> {
    const engine = `unix://${await engineSocketOnMachine(this.host)}`;
    await buildImages(['controlplane', 'stand-ins'], { ...process.env, DOCKER_HOST: engine, DOCKER_BUILDKIT: '0' });
  }

  /** Folder of chain profiles and manifests that the roles read. */
  get chains(): string {
    return join(this.folder, 'compose/chains');
  }

  /** The gateway's certificate, which signs itself. */
  get authority(): string {
    return join(this.folder, 'compose/secrets/gateway.crt');
  }

  /** From now on roles are made from this image. */
  async release(tag: string): Promise<void> {
    await this.docker('tag', IMAGES.controlplane, tag);
    this.#image = tag;
  }

  /** @throws HostLabError with what it wrote */
  compose(...words: string[]): Promise<string> {
    return this.host.must('env', ...this.#environment(), COMPOSE, ...FILES, ...words);
  }

  /** A script of deploy/, which asks compose itself. */
  script(name: string, ...words: string[]): Promise<string> {
    const command = [COMPOSE, ...FILES].join(' ');
    return this.host.must('env', ...this.#environment(), `COMPOSE=${command}`, `${ON_HOST}/${name}`, ...words);
  }

  docker(...words: string[]): Promise<string> {
    return this.host.must('docker', '-H', `unix://${ENGINE_SOCKET}`, ...words);
  }

  #environment(): string[] {
    const ports = ['HOODCLOUD_API_PORT=0.0.0.0:8080', 'HOODCLOUD_GATEWAY_PORT=0.0.0.0:9090'];
    return [`DOCKER_HOST=unix://${ENGINE_SOCKET}`, `HOODCLOUD_IMAGE=${this.#image}`, 'HOME=/root', ...ports];
  }

  async dispose(): Promise<void> {
    await this.#lab.clean();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
