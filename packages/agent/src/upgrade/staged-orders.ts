import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '@bufbuild/protobuf';
import { errnoOf } from '../agent-error.ts';
import { removeDurably, replaceFile, syncFolder } from '../host/atomic-file.ts';

const SUFFIX = '.json';

/** What is kept of an UPGRADE that was made ready ahead: one a component, the newest counts. */
export interface StagedOrder {
  readonly format: 1;
  /** The attempt that the UPGRADE will be of. */
  readonly attemptId: string;
  readonly binaryName: string;
  /** The UPGRADE's payload as protobuf JSON, with the activation. */
  readonly payload: JsonValue;
  /** `sha256:<hex>` of what was acquired: an archive's member is found again by it (A6). */
  readonly installedChecksum: string;
  /** How the node was found when it was staged: one that stops by itself at the height is to run again. */
  readonly wantedRunning: boolean;
  /** Milliseconds since the epoch, the host's clock. */
  readonly stagedAtMs: number;
}

/** The staged orders of this host, a file each in `{state_dir}/staged`, replaced whole and fsynced. */
export class StagedOrders {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(stateDir: string): Promise<StagedOrders> {
    const folder = join(stateDir, 'staged');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await syncFolder(stateDir);
    return new StagedOrders(folder);
  }

  /** Null: nothing is staged for the component, or its file is none of ours (then it is staged again). */
  async of(binaryName: string): Promise<StagedOrder | null> {
    try {
      return parseOrder(await readFile(this.#pathOf(binaryName), 'utf8'));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async list(): Promise<StagedOrder[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(SUFFIX));
    const orders = await Promise.all(names.map(async (name) => readFile(join(this.#folder, name), 'utf8')));
    return orders.map(parseOrder).filter((order) => order !== null);
  }

  /** On the disk when it resolves. */
  async keep(order: StagedOrder): Promise<void> {
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    await replaceFile(this.#pathOf(order.binaryName), `${JSON.stringify(order)}\n`, { mode: 0o600, ...owner });
  }

  async forget(binaryName: string): Promise<void> {
    await removeDurably(this.#pathOf(binaryName));
  }

  #pathOf(binaryName: string): string {
    return join(this.#folder, `${encodeURIComponent(binaryName)}${SUFFIX}`);
  }
}

/** A file that a crash of the disk or a person spoiled is no order: what it staged is staged again. */
function parseOrder(text: string): StagedOrder | null {
  try {
    const order = JSON.parse(text) as StagedOrder;
    return order.format === 1 ? order : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
