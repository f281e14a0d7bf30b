import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { allFree } from '@hoodcloud/controlplane/dev/child-server';
import { freePortRange } from './free-ports.ts';

/** Ports that later runs use again: the validators' configurations and the manifests name them. */
export interface KeptPorts {
  readonly artifacts: number;
  /** The first of twelve: three for each validator. */
  readonly firstValidator: number;
}

/** Every port of one run. */
export interface DemoPorts extends KeptPorts {
  readonly api: number;
  readonly gateway: number;
  readonly temporalUi: number;
}

/** What one run leaves for the next. */
export interface DemoState {
  readonly chain: 'cometbft' | 'stand-in';
  readonly ports: KeptPorts;
}

/** The demo's folder and what it remembers. */
export class DemoFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
    mkdirSync(this.path, { recursive: true, mode: 0o755 });
  }

  /** A path inside the folder. */
  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /** null: nothing was played here yet. */
  read(): DemoState | null {
    if (!existsSync(this.#stateFile)) return null;
    return JSON.parse(readFileSync(this.#stateFile, 'utf8')) as DemoState;
  }

  write(state: DemoState): void {
    writeFileSync(`${this.#stateFile}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${this.#stateFile}.new`, this.#stateFile);
  }

  /** Forgets everything. */
  clear(): void {
    rmSync(this.path, { recursive: true, force: true });
    mkdirSync(this.path, { recursive: true, mode: 0o755 });
  }

  get #stateFile(): string {
    return this.at('state.json');
  }
}

const PORTS_OF_A_CHAIN = 12;

/** Ports for a chain that doesn't exist yet. */
export async function chooseKeptPorts(): Promise<KeptPorts> {
  return { artifacts: await freePortRange(1, 8765), firstValidator: await freePortRange(PORTS_OF_A_CHAIN, 26_656) };
}

/**
 * The kept ports and, for this run, each other port the usual one where it is free.
 * @throws PortTaken when another program has a kept one
 */
export async function choosePorts({ artifacts, firstValidator }: KeptPorts): Promise<DemoPorts> {
  const chain = Array.from({ length: PORTS_OF_A_CHAIN }, (_, index) => firstValidator + index);
  for (const port of [artifacts, ...chain]) {
    if (!(await allFree([port]))) throw new PortTaken(port);
  }
  const api = await freePortRange(1, 8080);
  const gateway = await freePortRange(1, 9090);
  const temporalUi = await freePortRange(1, 8233);
  return { artifacts, firstValidator, api, gateway, temporalUi };
}

/** Another program listens where an earlier run of the demo did. */
export class PortTaken extends Error {
  readonly code = 'port_taken';

  constructor(port: number) {
    super(
      `Port ${port} is taken, and what an earlier run left needs it. Perhaps a demo still runs elsewhere: end it, or begin anew with npm run demo -- --reset.`,
    );
  }
}
