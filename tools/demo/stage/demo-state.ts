import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePortRange } from './free-ports.ts';

/** Ports of the demo; kept between runs, since chain, manifests and agents name them. */
export interface DemoPorts {
  readonly api: number;
  readonly gateway: number;
  readonly temporalUi: number;
  readonly artifacts: number;
  readonly firstValidator: number;
}

/** What one run leaves for the next. */
export interface DemoState {
  readonly chain: 'cometbft' | 'stand-in';
  readonly ports: DemoPorts;
  readonly apiKey: string | null;
}

/** The demo's folder and what it remembers. */
export class DemoFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true, mode: 0o755 });
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

/** Ports that nobody uses now, each the usual one where it is free. */
export async function choosePorts(): Promise<DemoPorts> {
  const api = await freePortRange(1, 8080);
  const gateway = await freePortRange(1, 9090);
  const temporalUi = await freePortRange(1, 8233);
  const artifacts = await freePortRange(1, 8765);
  const firstValidator = await freePortRange(12, 26_656);
  return { api, gateway, temporalUi, artifacts, firstValidator };
}
