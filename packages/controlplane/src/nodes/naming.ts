import type { UpgradeManifest } from '@hoodcloud/contracts/files/upgrade-manifest';
import { FileFormatError } from '@hoodcloud/contracts/files/yaml-file';
import type { TargetArtifact } from '@hoodcloud/domain/target-artifact';
import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import type { ChainFiles } from '../manifests/chain-files.ts';
import { ConfigFileNotFoundError } from '../manifests/config-dir.ts';
import type { ManifestReader } from '../manifests/manifest-reader.ts';

/** Where versions and their checksums are written down. */
export interface VersionSources {
  readonly chains: Pick<ChainFiles, 'profile'>;
  readonly manifests: Pick<ManifestReader, 'list'>;
}

export interface RunningComponent {
  readonly nodeId: string;
  readonly binaryName: string;
  /** `sha256:<hex>` of what runs now. */
  readonly runningChecksum: string;
  readonly installedChecksum: string | null;
}

interface NamedVersion {
  readonly version: string;
  readonly url: string | null;
  readonly checksum: string;
  readonly source: 'manifest' | 'profile' | 'rollout';
  /** Member of the archive that has this checksum; null: the checksum is the running file's. */
  readonly member: string | null;
}

/**
 * Names what runs on a node from the chain's profile, its manifests and earlier rollouts, so that a node that joins has a
 * version before its first rollout (B2). What nobody knows is stored without a version until an operator names it. A node
 * in maintenance is left alone: its rollout says what it runs.
 * @returns the version the component has now; null: unknown
 */
export async function nameRunningComponent(
  db: Db,
  sources: VersionSources,
  component: RunningComponent,
): Promise<string | null> {
  const known = await stateOf(db, component);
  if (!known) return null;
  const unchanged =
    known.installed_checksum === component.runningChecksum || known.binary_checksum === component.runningChecksum;
  if (known.node_state === 'maintenance' || (unchanged && known.binary_version !== null)) return known.binary_version;
  const named = await findVersion(db, sources, known.chain_profile_id, component);
  if (!named && unchanged) return null;
  await storeVersion(db, component, named);
  if (named) await appendNamed(db, component, named.version, named.source, 'system:naming');
  return named?.version ?? null;
}

export interface OperatorNaming {
  readonly nodeId: string;
  readonly binaryName: string;
  readonly version: string;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** An operator says which version runs. @returns false when the node has no such component */
export async function nameByOperator(
  db: Db,
  { nodeId, binaryName, version, actor, reason }: OperatorNaming,
): Promise<boolean> {
  const running = await db
    .selectFrom('node_components')
    .select(['running_checksum', 'installed_checksum'])
    .where('node_id', '=', nodeId)
    .where('binary_name', '=', binaryName)
    .executeTakeFirst();
  if (!running) return false;
  const values = {
    binary_version: version,
    binary_checksum: running.running_checksum,
    artifact_member: null,
    installed_checksum: running.installed_checksum,
    version_source: 'operator' as const,
    updated_at: new Date(),
  };
  await db
    .insertInto('node_config_state')
    .values({ node_id: nodeId, binary_name: binaryName, ...values })
    .onConflict((conflict) => conflict.columns(['node_id', 'binary_name']).doUpdateSet(values))
    .execute();
  await appendNamed(db, { nodeId, binaryName }, version, 'operator', actor, reason);
  return true;
}

function stateOf(db: Db, { nodeId, binaryName }: RunningComponent) {
  return db
    .selectFrom('nodes')
    .leftJoin('node_config_state as state', (join) =>
      join.onRef('state.node_id', '=', 'nodes.id').on('state.binary_name', '=', binaryName),
    )
    .select([
      'nodes.chain_profile_id',
      'nodes.state as node_state',
      'state.binary_version',
      'state.binary_checksum',
      'state.installed_checksum',
    ])
    .where('nodes.id', '=', nodeId)
    .executeTakeFirst();
}

async function findVersion(
  db: Db,
  sources: VersionSources,
  chainProfileId: string,
  { binaryName, runningChecksum }: RunningComponent,
): Promise<NamedVersion | null> {
  return (
    (await fromProfile(sources, chainProfileId, binaryName, runningChecksum)) ??
    (await fromManifests(sources, chainProfileId, binaryName, runningChecksum)) ??
    (await fromRollouts(db, chainProfileId, binaryName, runningChecksum))
  );
}

async function fromProfile(
  { chains }: VersionSources,
  chainProfileId: string,
  binaryName: string,
  checksum: string,
): Promise<NamedVersion | null> {
  try {
    const { profile } = await chains.profile(chainProfileId);
    const binary = profile.binaries.find(({ name }) => name === binaryName);
    const known = binary?.known_versions.find((version) => version.checksum === checksum);
    return known ? { version: known.version, url: known.url ?? null, checksum, source: 'profile', member: null } : null;
  } catch (error) {
    // a chain without a readable profile has no names to give; plan and lint say what is wrong with the file
    if (error instanceof FileFormatError || error instanceof ConfigFileNotFoundError) return null;
    throw error;
  }
}

async function fromManifests(
  { manifests }: VersionSources,
  chainProfileId: string,
  binaryName: string,
  checksum: string,
): Promise<NamedVersion | null> {
  for (const { manifest } of await manifests.list(chainProfileId)) {
    if (manifest.binary_name !== binaryName) continue;
    const found = filesOf(manifest).find((file) => file.checksum === checksum);
    if (!found) continue;
    return { version: manifest.target_version, url: found.url, checksum, source: 'manifest', member: null };
  }
  return null;
}

/** The files that a manifest installs as they are; what runs never has the checksum of an archive. */
function filesOf({ artifacts, target_url, target_checksum, target_member }: UpgradeManifest) {
  if (artifacts) return Object.values(artifacts).filter(({ member }) => member === undefined);
  const plain = target_url !== undefined && target_checksum !== undefined && target_member === undefined;
  return plain ? [{ url: target_url, checksum: target_checksum }] : [];
}

/** An archive's checksum differs from the installed file's: what was installed by a rollout is known by its row (A6). */
async function fromRollouts(
  db: Db,
  chainProfileId: string,
  binaryName: string,
  checksum: string,
): Promise<NamedVersion | null> {
  const row = await db
    .selectFrom('rollout_nodes')
    .innerJoin('rollouts', 'rollouts.id', 'rollout_nodes.rollout_id')
    .select([
      'target_version',
      'target_binary_url',
      'target_binary_checksum',
      'target_artifact_member',
      'target_artifact',
    ])
    .where('chain_profile_id', '=', chainProfileId)
    .where('binary_name', '=', binaryName)
    .where('rollout_nodes.status', '=', 'succeeded')
    .where('rollout_nodes.running_checksum', '=', checksum)
    .orderBy('rollout_nodes.ended_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const {
    url,
    checksum: of,
    member,
  } = (row.target_artifact as TargetArtifact | null) ?? {
    url: row.target_binary_url,
    checksum: row.target_binary_checksum,
    member: row.target_artifact_member,
  };
  return { version: row.target_version, url, checksum: of, member, source: 'rollout' };
}

async function storeVersion(db: Db, component: RunningComponent, named: NamedVersion | null): Promise<void> {
  const values = {
    binary_version: named?.version ?? null,
    binary_url: named?.url ?? null,
    binary_checksum: named?.checksum ?? component.runningChecksum,
    artifact_member: named?.member ?? null,
    installed_checksum: component.installedChecksum ?? component.runningChecksum,
    version_source: named?.source ?? ('unknown' as const),
    updated_at: new Date(),
  };
  await db
    .insertInto('node_config_state')
    .values({ node_id: component.nodeId, binary_name: component.binaryName, ...values })
    .onConflict((conflict) => conflict.columns(['node_id', 'binary_name']).doUpdateSet(values))
    .execute();
}

async function appendNamed(
  db: Db,
  { nodeId, binaryName }: Pick<RunningComponent, 'nodeId' | 'binaryName'>,
  version: string,
  source: string,
  actor: string,
  reason?: string,
): Promise<void> {
  await appendEvent(db, {
    kind: 'node_version_named',
    subjectType: 'node',
    subjectId: nodeId,
    nodeId,
    actor,
    data: { binary_name: binaryName, version, source, ...(reason !== undefined && { reason }) },
  });
}
