import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import type { Db } from '../db/database.ts';
import type { PayloadCipher } from '../db/payload-cipher.ts';
import type { RolloutNodeRow } from './rollout-row.ts';

/** A config file of a command: content to write, or an attempt as whose backup has the file it is put back. */
export type CommandConfig =
  | { readonly path: string; readonly content: Uint8Array }
  | { readonly path: string; readonly restoreAttemptId: string };

/**
 * The configs that a rollback puts back (C3): every file that the node's last completed upgrade attempt wrote, as that
 * attempt found it. The host's backup knows what was there, also what people had written; rows know only what we rendered.
 */
export async function configsToRestore(
  db: Db,
  payloads: PayloadCipher,
  row: Pick<RolloutNodeRow, 'id'>,
): Promise<CommandConfig[]> {
  const commands = await db
    .selectFrom('agent_commands')
    .select(['attempt_id', 'payload'])
    .where('rollout_node_id', '=', row.id)
    .where('operation', '=', 'UPGRADE')
    .where('outcome', '=', 'completed')
    .orderBy('created_at', 'desc')
    .execute();
  for (const { attempt_id, payload } of commands) {
    const written = decodeUpgradePayload(payloads.open(payload)).configFiles.filter(
      (file) => file.restoreAttemptId === '',
    );
    if (written.length > 0) return written.map(({ path }) => ({ path, restoreAttemptId: attempt_id }));
  }
  return [];
}
