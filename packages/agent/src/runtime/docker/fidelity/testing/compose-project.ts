import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { type CoveredOption, ON_A_NETWORK } from './covered-options.ts';

const FILE = '/srv/compose/docker-compose.yml';

/** The container that the project makes. */
export const COMPOSE_CONTAINER = 'compose_node_1';

/** What somebody changes by hand afterwards, which no file knows of. */
export const CHANGED_BY_HAND: readonly CoveredOption[] = [
  { option: 'docker update', arguments: ['--cpuset-mems=0'], shownIn: 'HostConfig.CpusetMems' },
  { option: 'docker network connect', arguments: ['--alias=later', 'second-net'], shownIn: 'Networks.second-net' },
];

/** A Compose project with one service that uses every covered option that the format (2.4) has a word for. */
export class ComposeProject {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** `docker-compose up -d` with this image in the file. */
  async up(image: string): Promise<void> {
    const node = Object.assign({ image }, ...ON_A_NETWORK.map(({ compose }) => compose ?? {}));
    const external = { external: true };
    const file = {
      version: '2.4',
      services: { node },
      networks: { 'chain-net': external },
      volumes: { named: external },
    };
    await this.#host.writeFile(FILE, JSON.stringify(file));
    await this.#run('up -d');
  }

  async changeByHand(): Promise<void> {
    for (const { option, arguments: words } of CHANGED_BY_HAND) {
      await this.#host.sh(`${option} ${words.join(' ')} ${COMPOSE_CONTAINER}`);
    }
  }

  /** What Compose knows of its containers. */
  ps(): Promise<string> {
    return this.#run('ps');
  }

  down(): Promise<string> {
    return this.#run('down -v');
  }

  #run(words: string): Promise<string> {
    return this.#host.sh(`docker-compose -f ${FILE} ${words} 2>&1`);
  }
}
