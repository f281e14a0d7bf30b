import type { ChainProfile } from '@hoodcloud/contracts/files/chain-profile';
import type { ChainView, ManifestView } from '@hoodcloud/contracts/http/chains';
import { isHalted } from '@hoodcloud/domain/chain-height';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { timestampOrNull } from '../http/timestamps.ts';
import { OFFLINE_AFTER_MS } from '../nodes/liveness.ts';
import type { ChainFiles } from './chain-files.ts';
import { problemsOf } from './file-reader.ts';
import type { InspectedManifest, ManifestReader } from './manifest-reader.ts';

export interface ChainSources {
  readonly db: Db;
  readonly chains: ChainFiles;
  readonly manifests: ManifestReader;
}

/** Every chain that has a profile or nodes, by name. */
export async function listChains(sources: ChainSources): Promise<ChainView[]> {
  const [named, rows] = await Promise.all([sources.chains.chains(), chainRows(sources.db)]);
  const ids = [...new Set([...named, ...rows.keys()])].sort();
  return Promise.all(ids.map((id) => chainView(sources, id, rows.get(id))));
}

/** One chain; null when it has neither a profile nor nodes. @throws UnsafeNameError */
export async function findChain(sources: ChainSources, id: string): Promise<ChainView | null> {
  const [named, rows] = await Promise.all([sources.chains.chains(), chainRows(sources.db)]);
  const row = rows.get(id);
  return row || named.includes(id) ? chainView(sources, id, row) : null;
}

interface ChainRow {
  readonly chain_profile_id: string;
  readonly nodes: number;
  readonly online: number;
  readonly best_height: number | null;
  readonly grew_at: Date | null;
  readonly owner_type: 'rollout' | 'rollout_group' | null;
  readonly owner_id: string | null;
}

async function chainRows(db: Db): Promise<ReadonlyMap<string, ChainRow>> {
  const heardSince = new Date(Date.now() - OFFLINE_AFTER_MS);
  const { rows } = await sql<ChainRow>`
    select n.*, h.best_height, h.grew_at, a.owner_type, a.owner_id
      from (select chain_profile_id, count(*)::int as nodes,
                   (count(*) filter (where last_heartbeat_at > ${heardSince}))::int as online
              from nodes group by chain_profile_id) n
      left join chain_heights h using (chain_profile_id)
      left join active_chains a using (chain_profile_id)`.execute(db);
  return new Map(rows.map((row) => [row.chain_profile_id, row]));
}

async function chainView({ chains, manifests }: ChainSources, id: string, row?: ChainRow): Promise<ChainView> {
  let profile: ChainProfile | null = null;
  let runtime: ChainView['runtime_type'] = null;
  const problems = [
    ...(await problemsOf(async () => {
      profile = (await chains.profile(id)).profile;
    })),
    ...(await problemsOf(async () => {
      runtime = (await chains.runtime(id))?.runtime.type ?? null;
    })),
  ];
  let stored = 0;
  problems.push(
    ...(await problemsOf(async () => {
      stored = (await manifests.inspect(id)).length;
    })),
  );
  return {
    ...ofProfile(profile),
    ...ofRow(id, profile, row),
    chain_profile_id: id,
    problems: [...new Set(problems)],
    runtime_type: runtime,
    manifests: stored,
  };
}

function ofProfile(profile: ChainProfile | null) {
  return {
    node_types: profile?.node_types ?? [],
    binaries: (profile?.binaries ?? []).map(({ name, artifact_kind, known_versions }) => ({
      name,
      artifact_kind,
      known_versions: known_versions.map(({ version, checksum }) => ({ version, checksum })),
    })),
    two_person_approval: profile?.two_person_approval ?? false,
    trust: profile && {
      minimum_release_age_hours: profile.trust.minimum_release_age_hours ?? null,
      allowed_origins: profile.trust.allowed_origins ?? null,
      approvals: profile.trust.approvals ?? null,
    },
    health: profile?.health ?? null,
  };
}

function ofRow(chainProfileId: string, profile: ChainProfile | null, row: ChainRow | undefined) {
  const seconds = profile?.health.max_block_interval_seconds;
  const height = {
    chainProfileId,
    bestHeight: row?.best_height ?? null,
    heightGrewAt: row?.grew_at?.getTime() ?? null,
    maxBlockIntervalMs: seconds === undefined ? null : seconds * 1000,
  };
  return {
    nodes: row?.nodes ?? 0,
    nodes_online: row?.online ?? 0,
    best_height: height.bestHeight,
    height_grew_at: timestampOrNull(row?.grew_at ?? null),
    halted: isHalted(height, Date.now()),
    active: row?.owner_type && row.owner_id ? { type: row.owner_type, id: row.owner_id } : null,
  };
}

/** A manifest as the API shows it. */
export function manifestView(chainProfileId: string, inspected: InspectedManifest): ManifestView {
  const { manifest, upgradeId, file, contentHash, signature, problems } = inspected;
  return {
    upgrade_id: upgradeId,
    chain_profile_id: chainProfileId,
    file,
    content_hash: contentHash,
    signature,
    problems: [...problems],
    upgrade: manifest && {
      node_type: manifest.node_type,
      binary_name: manifest.binary_name,
      target_version: manifest.target_version,
      migration_type: manifest.state_compatibility.migration_type,
      notes: manifest.state_compatibility.notes ?? null,
      recovery_plan: manifest.recovery_plan ?? null,
      artifacts: artifactsOf(manifest),
      config_paths: manifest.config_changes.map(({ path }) => path),
      drift: manifest.drift,
    },
  };
}

type Manifest = NonNullable<InspectedManifest['manifest']>;

function artifactsOf(manifest: Manifest): NonNullable<ManifestView['upgrade']>['artifacts'] {
  if (manifest.artifacts) return manifest.artifacts;
  const { target_url: url = '', target_checksum: checksum = '', target_member: member, target_signature } = manifest;
  return {
    any: { url, checksum, ...(member && { member }), ...(target_signature && { signature: target_signature }) },
  };
}
