import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { removeDurably, replaceFile } from '../../host/atomic-file.ts';
import { bootId, type ProcessIdentity } from '../../host/process-table.ts';
import { readTextIfThere } from '../../host/read-if-there.ts';
import type { RestartPolicy } from './container-inspect.ts';

/** What the engine can't be asked for about one container: what the agent has done to it, and for whom. */
export interface ServiceRecord {
  /** The operator's restart policy while the container is held; null when it isn't (A18a). */
  readonly heldPolicy: RestartPolicy | null;
  /**
   * A policy that a container which was left stopped gets once it runs: the engine would start one that never ran by
   * itself, whereas it leaves one alone that was stopped (A3, field-case 74).
   */
  readonly owedPolicy: { readonly containerId: string; readonly policy: RestartPolicy } | null;
  /** Main processes of this boot that must be gone before any start (A19). */
  readonly processes: readonly ProcessIdentity[];
  /** The run of a container that was asked to stop; named by the engine's own start time. */
  readonly askedToStop: { readonly containerId: string; readonly startedAt: string } | null;
  /** Time of the latest deliberate start in milliseconds since 1970; null when there was none. */
  readonly startedAtMs: number | null;
}

const EMPTY: ServiceRecord = {
  heldPolicy: null,
  owedPolicy: null,
  processes: [],
  askedToStop: null,
  startedAtMs: null,
};

/** Keeps the record in one file, replaced atomically and on disk when a change resolves. */
export class ServiceRecordFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** As it was written last; processes of an earlier boot are gone, whoever has their pids now. */
  async read(): Promise<ServiceRecord> {
    const text = await readTextIfThere(this.#path);
    if (text === null) return EMPTY;
    const { bootId: boot, ...record } = JSON.parse(text) as ServiceRecord & { readonly bootId: string };
    return boot === (await bootId()) ? record : { ...record, processes: [] };
  }

  async change(changes: Partial<ServiceRecord>): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const record = { ...(await this.read()), ...changes, bootId: await bootId() };
    await replaceFile(this.#path, `${JSON.stringify(record)}\n`);
  }

  async remove(): Promise<void> {
    if ((await readTextIfThere(this.#path)) !== null) await removeDurably(this.#path);
  }
}
