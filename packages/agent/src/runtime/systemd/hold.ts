import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeDurably, removeFolderIfEmpty, replaceFile, syncFolder } from '../../host/atomic-file.ts';
import { bootId, isAlive, isSameProcess, type ProcessIdentity } from '../../host/process-table.ts';
import { readTextIfThere } from '../../host/read-if-there.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import type { ManagerScope } from './manager-scope.ts';
import type { Systemctl } from './systemctl.ts';

const LOOK_TIMEOUT_MS = 10_000;
const DROP_IN = '50-hoodcloud-hold.conf';

/** What a hold file says: the processes that must be gone before the unit starts again, and the boot they belong to. */
interface HoldRecord {
  readonly bootId: string;
  readonly processes: readonly ProcessIdentity[];
}

/**
 * Keeps one unit down while it is being changed (A18a). A drop-in gives the unit the condition that a hold file must not
 * exist; so the unit comes up neither at boot after a power loss, nor by its `Restart=`, nor through `systemctl start`.
 */
export class Hold {
  /** The mark itself. */
  readonly path: string;
  /** The drop-in that makes systemd look at it. */
  readonly dropIn: string;
  readonly #dropInContent: string;
  /** Folders above that of the mark that are there for marks only. */
  readonly #ownFolders: readonly string[];

  /** @param holdDir where the mark lies, by default where the scope says */
  constructor(unit: string, scope: ManagerScope, holdDir?: string) {
    this.path = join(holdDir ?? scope.holdDir, unit);
    this.#ownFolders = scope.user === null ? [] : [dirname(dirname(this.path))];
    this.dropIn = join(scope.permanentFolder, `${unit}.d`, DROP_IN);
    const folder = holdDir === undefined ? scope.holdDirInUnits : escaped(holdDir);
    const mark = join(folder, escaped(unit));
    this.#dropInContent = `# Written by hoodcloud-agent: a unit that is being upgraded stays down (A18a).\n[Unit]\nConditionPathExists=!${mark}\n`;
  }

  /** Lays the drop-in; whether systemd must reload for it. */
  async lay(): Promise<boolean> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o755 });
    if ((await readTextIfThere(this.dropIn)) === this.#dropInContent) return false;
    await mkdir(dirname(this.dropIn), { recursive: true, mode: 0o755 });
    await replaceFile(this.dropIn, this.#dropInContent);
    await syncFolder(dirname(dirname(this.dropIn)));
    return true;
  }

  /** Removes mark and drop-in, and their folders when nothing else is in them; whether systemd must reload for it. */
  async takeAway(): Promise<boolean> {
    await this.release();
    const wasThere = (await readTextIfThere(this.dropIn)) !== null;
    if (wasThere) await removeDurably(this.dropIn);
    for (const folder of [dirname(this.dropIn), dirname(this.path), ...this.#ownFolders])
      await removeFolderIfEmpty(folder);
    return wasThere;
  }

  /** Writes the mark, on disk when this resolves. Processes of an earlier mark of this boot stay named. */
  async set(processes: readonly ProcessIdentity[]): Promise<void> {
    const known = await this.livingProcesses();
    const more = processes.filter((process) => !known.some((other) => isSameProcess(process, other)));
    const record: HoldRecord = { bootId: await bootId(), processes: [...known, ...more] };
    await replaceFile(this.path, `${JSON.stringify(record)}\n`);
  }

  /** Removes the mark, on disk when this resolves. */
  async release(): Promise<void> {
    if (await this.isSet()) await removeDurably(this.path);
  }

  /**
   * Removes the mark for the start that `start` orders; both are done when this resolves, the removal on the disk too.
   * The disk may learn of it beside the start, which is downtime: after a power cut the unit is held again, and its
   * attempt still open.
   */
  async releaseFor(start: () => Promise<void>): Promise<void> {
    await rm(this.path, { force: true });
    await Promise.all([start(), syncFolder(dirname(this.path))]);
  }

  async isSet(): Promise<boolean> {
    return (await readTextIfThere(this.path)) !== null;
  }

  /**
   * A user's systemd looks at the mark with the user's eyes: what it can't see doesn't hold.
   * @throws RuntimeError `hold_not_visible`
   */
  async requireVisible(systemctl: Systemctl): Promise<void> {
    const { user } = systemctl.scope;
    if (user === null) return;
    const seen = await systemctl.call('test', ['-e', this.path], AbortSignal.timeout(LOOK_TIMEOUT_MS));
    if (seen.code === 0) return;
    const sentence = `${user.name} cannot see ${this.path}, so the unit would not be held: make its folders readable for everybody`;
    throw new RuntimeError('hold_not_visible', sentence);
  }

  /** Those of the processes named by the mark that still live (A19). */
  async livingProcesses(): Promise<ProcessIdentity[]> {
    const record = parseRecord((await readTextIfThere(this.path)) ?? '');
    if (record === null || record.bootId !== (await bootId())) return [];
    const alive = await Promise.all(record.processes.map(isAlive));
    return record.processes.filter((_, index) => alive[index]);
  }
}

/** % introduces a specifier in unit files. */
function escaped(text: string): string {
  return text.replaceAll('%', '%%');
}

/** A mark that cannot be read still holds; it only names no process (an operator may have made it with `touch`). */
function parseRecord(text: string): HoldRecord | null {
  try {
    const record = JSON.parse(text);
    return Array.isArray(record?.processes) && typeof record.bootId === 'string' ? record : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
