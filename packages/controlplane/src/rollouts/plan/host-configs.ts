import { sql } from 'kysely';
import type { RenderedNode } from '../../config-rendering/render-configs.ts';
import type { Db } from '../../db/database.ts';

/** A node with what is known of its config files, each by path as `sha256:<hex>`. */
export interface HostConfigs extends RenderedNode {
  /** As the agent last saw them. */
  readonly seen: Readonly<Record<string, string>>;
  /** As a rollout last wrote them. */
  readonly written: Readonly<Record<string, string>>;
}

/** In the order of their names. */
export async function loadHostConfigs(db: Db, binaryName: string, nodeIds: readonly string[]): Promise<HostConfigs[]> {
  const rows = await db
    .selectFrom('nodes as n')
    .leftJoin('node_components as c', (join) =>
      join.onRef('c.node_id', '=', 'n.id').on('c.binary_name', '=', binaryName),
    )
    .leftJoin('node_config_state as s', (join) =>
      join.onRef('s.node_id', '=', 'n.id').on('s.binary_name', '=', binaryName),
    )
    .select([
      'n.id',
      'n.name',
      'n.node_type',
      'n.variables',
      'c.config_checksums as seen',
      's.config_hashes as written',
    ])
    .where('n.id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`)
    .orderBy('n.name')
    .execute();
  return rows.map((row) => ({ ...row, seen: hashes(row.seen), written: hashes(row.written) }));
}

/** An empty hash stands for a file that is not there. */
function hashes(column: unknown): Record<string, string> {
  const entries = Object.entries((column ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.filter(([, hash]) => hash !== ''));
}
