import { open, stat } from 'node:fs/promises';
import { applyAttributes, attributesOf } from '../host/atomic-file.ts';
import { copyAttributes, extendedAttributesOf, refuseSeals } from '../host/extended-attributes.ts';
import { requireSameAttributes } from './file-backup.ts';

/**
 * Gives an acquired binary all that the installed one has (A8). Done before the stop, where a refusal costs nothing; the
 * swap repeats it only when one of the two files has changed since, so that it costs no downtime.
 */
export class ArtifactAttributes {
  #given: string | null = null;

  /**
   * On the disk when it resolves. Where nothing is installed, the acquired file becomes an executable of our own.
   * @throws HostError `attributes_unsupported` when something can't be carried over
   */
  async give(installed: string, acquired: string): Promise<void> {
    if (this.#given !== null && this.#given === (await look(installed, acquired))) return;
    const file = await open(acquired, 'r');
    try {
      if ((await attributesOf(installed)) === null) {
        await applyAttributes(file, { mode: 0o755, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
      } else {
        const extended = await extendedAttributesOf(installed);
        refuseSeals(installed, extended);
        await copyAttributes(installed, acquired);
        await requireSameAttributes(installed, acquired, extended);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    this.#given = await look(installed, acquired);
  }
}

/** Changes with every change of content or attributes of either file; empty when there is no installed one. */
async function look(installed: string, acquired: string): Promise<string | null> {
  if ((await attributesOf(installed)) === null) return null;
  const looks = await Promise.all([installed, acquired].map((path) => stat(path, { bigint: true })));
  return looks.map(({ dev, ino, ctimeNs }) => `${dev}:${ino}:${ctimeNs}`).join(' ');
}
