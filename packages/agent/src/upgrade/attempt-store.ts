import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { replaceFile, syncFolder } from '../host/atomic-file.ts';
import { type AttemptRecord, openOperations, unacknowledged } from './attempt-record.ts';

/** Records of a component that are kept beyond those that are still needed. */
const KEPT_PER_COMPONENT = 20;
const SUFFIX = '.json';

/**
 * The attempts of this host, one file each in `{state_dir}/attempts` (A4, A5). Files are replaced whole and fsynced; one
 * that can't be read is set aside under another name, reported, and never stops the agent.
 */
export class AttemptStore {
  readonly #folder: string;
  readonly #onUnreadable: (path: string, error: unknown) => void;
  /** Writers of one file wait for each other; the last write wins. */
  #looksOnly = false;
  readonly #writes = new Map<string, Promise<void>>();

  private constructor(folder: string, onUnreadable: (path: string, error: unknown) => void) {
    this.#folder = folder;
    this.#onUnreadable = onUnreadable;
  }

  /** @param onUnreadable told where the unreadable record's copy is kept, and why it couldn't be read */
  static async open(stateDir: string, onUnreadable: (path: string, error: unknown) => void): Promise<AttemptStore> {
    const folder = join(stateDir, 'attempts');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await syncFolder(stateDir);
    return new AttemptStore(folder, onUnreadable);
  }

  /** For those who only look, beside a running agent: nothing is made, set aside or written. */
  static look(stateDir: string, onUnreadable: (path: string, error: unknown) => void): AttemptStore {
    const store = new AttemptStore(join(stateDir, 'attempts'), onUnreadable);
    store.#looksOnly = true;
    return store;
  }

  /** Null when there is no such attempt, or its record had to be set aside. */
  async load(attemptId: string): Promise<AttemptRecord | null> {
    const path = this.#pathOf(attemptId);
    try {
      return parseRecord(await readFile(path, 'utf8'), attemptId);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      if (errnoOf(error) !== null) throw error;
      await this.#setAside(path, error);
      return null;
    }
  }

  /** On the disk when it resolves. The record is taken as it is at the call. */
  async save(record: AttemptRecord): Promise<void> {
    const content = `${JSON.stringify(record, null, 2)}\n`;
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const earlier = this.#writes.get(record.attemptId) ?? Promise.resolve();
    // an earlier write that failed was reported to its caller
    const write = earlier
      .catch(() => undefined)
      .then(() => replaceFile(this.#pathOf(record.attemptId), content, { mode: 0o600, ...owner }));
    this.#writes.set(record.attemptId, write);
    try {
      await write;
    } finally {
      if (this.#writes.get(record.attemptId) === write) this.#writes.delete(record.attemptId);
    }
  }

  /** Every readable record, newest first. */
  async list(): Promise<AttemptRecord[]> {
    const names = (await this.#names()).filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'));
    const records = await Promise.all(names.map((name) => this.load(name.slice(0, -SUFFIX.length))));
    return records.filter((record) => record !== null).sort((a, b) => b.createdAtMs - a.createdAtMs);
  }

  /**
   * Puts the records of open attempts where nobody goes on with them: they belong to an earlier membership, and what is
   * installed now is not theirs to undo (field-case 13). They are kept for whoever wants to know.
   * @returns their ids
   */
  async setOpenAside(): Promise<string[]> {
    const open = (await this.list()).filter((record) => openOperations(record).length > 0);
    for (const { attemptId } of open) {
      await rename(this.#pathOf(attemptId), `${this.#pathOf(attemptId)}.left-${Date.now()}`);
    }
    await syncFolder(this.#folder);
    return open.map(({ attemptId }) => attemptId);
  }

  /** Forgets old attempts of a component; never one that is open, not acknowledged, or the last confirmed one. */
  async prune(binaryName: string): Promise<void> {
    const records = (await this.list()).filter((record) => record.binaryName === binaryName);
    const lastGood = records.find(({ confirmed }) => confirmed);
    for (const record of records.slice(KEPT_PER_COMPONENT)) {
      const needed = record === lastGood || openOperations(record).length > 0 || unacknowledged(record).length > 0;
      if (!needed) await rm(this.#pathOf(record.attemptId), { force: true });
    }
  }

  #pathOf(attemptId: string): string {
    return join(this.#folder, attemptId + SUFFIX);
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if (this.#looksOnly && errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async #setAside(path: string, error: unknown): Promise<void> {
    if (this.#looksOnly) return this.#onUnreadable(path, error);
    const kept = `${path}.unreadable-${Date.now()}`;
    await rename(path, kept);
    this.#onUnreadable(kept, error);
  }
}

function parseRecord(text: string, attemptId: string): AttemptRecord {
  const record = JSON.parse(text) as AttemptRecord;
  const whole = record.format === 1 && record.attemptId === attemptId && Array.isArray(record.progress?.steps);
  if (!whole || record.operations === undefined || record.before === undefined) {
    throw new SyntaxError(`it is not the record of attempt ${attemptId} in format 1`);
  }
  return record;
}
