import { openOperations } from '../upgrade/attempt-record.ts';
import type { AttemptStore } from '../upgrade/attempt-store.ts';

/**
 * Closes what is open on the agent itself when its installation goes: nobody goes on with it, and a later installation
 * must not (field-case 13).
 * @param binaryName that of the agent
 */
export async function abandonOwnAttempts(store: AttemptStore, binaryName: string): Promise<void> {
  for (const record of await store.list()) {
    const open = record.binaryName === binaryName ? openOperations(record) : [];
    for (const [operation] of open) delete record.operations[operation];
    if (open.length > 0) await store.save(record);
  }
}
