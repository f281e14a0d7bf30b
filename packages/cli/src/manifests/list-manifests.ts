import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ManifestView } from '@hoodcloud/contracts/http/chains';
import type { CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';

/** `hoodctl manifest list CHAIN`: those that the control plane has now, usable or not. */
export async function listManifests(io: CommandIo, [chain = '']: readonly string[]): Promise<void> {
  const { items } = await (await io.api()).get<{ items: ManifestView[] }>(PATHS.chainManifests(chain));
  io.answer(items, renderManifests);
  if (items.length === 0) io.remark(`There is none: write upgrades/${chain}/UPGRADE.yaml into the config folder.`);
}

function renderManifests(manifests: readonly ManifestView[]): string {
  const rows = manifests.map(({ upgrade_id, upgrade, signature, content_hash, problems }) => [
    upgrade_id,
    upgrade?.node_type,
    upgrade && `${upgrade.binary_name} ${upgrade.target_version}`,
    upgrade?.migration_type,
    signature.replace('_', ' '),
    problems.length === 0 ? 'yes' : 'no',
    content_hash,
  ]);
  const table = renderTable(['upgrade', 'type', 'brings', 'migration', 'signature', 'usable', 'content hash'], rows);
  return table + manifests.flatMap(({ problems }) => problems.map((problem) => `✗ ${problem}\n`)).join('');
}
