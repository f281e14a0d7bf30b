import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, NODE_TYPE } from './tiny-host.ts';
import type { TinyRelease } from './tiny-release.ts';

export interface ChainOptions {
  /** Versions whose checksum is known, so that a joining node has a version (B2). */
  readonly known: readonly TinyRelease[];
  /** Seconds per action of `runtime.yaml`. */
  readonly budgets?: Readonly<Record<string, number>>;
  readonly healthWaitSeconds?: number;
  readonly artifactKind?: 'file' | 'image';
  readonly runtimeType?: 'process' | 'docker';
}

/** Writes a chain's profile and runtime file into the folder of chains. */
export function writeChain(configDir: string, chain: string, options: ChainOptions): void {
  const folder = join(configDir, chain);
  mkdirSync(join(folder, 'templates'), { recursive: true });
  mkdirSync(join(configDir, 'upgrades', chain), { recursive: true });
  const profile = {
    chain_profile_id: chain,
    node_types: [NODE_TYPE],
    binaries: [
      {
        name: BINARY,
        artifact_kind: options.artifactKind ?? 'file',
        known_versions: options.known.map(({ version, checksum }) => ({ version, checksum })),
      },
    ],
    health: {
      healthy_expression: 'metrics.tiny_height > 0.0',
      synced_expression: 'metrics.tiny_height > 0.0',
      height_metric: 'tiny_height',
      health_wait_seconds: options.healthWaitSeconds ?? 1,
      stable_seconds: 1,
    },
  };
  writeFileSync(join(folder, 'profile.yaml'), yaml(profile));
  writeFileSync(
    join(folder, 'runtime.yaml'),
    yaml({ runtime: { type: options.runtimeType ?? 'process' }, budgets: options.budgets ?? {} }),
  );
}

/** Fields of a manifest that a test wants otherwise; a value of undefined leaves the field out. */
export type ManifestFields = Readonly<Record<string, unknown>>;

/** The manifest that offers a release at an address. */
export function manifestFor(
  chain: string,
  release: TinyRelease,
  url: string,
  fields: ManifestFields = {},
): ManifestFields {
  return {
    upgrade_id: release.version,
    chain_profile_id: chain,
    node_type: NODE_TYPE,
    binary_name: BINARY,
    target_version: release.version,
    target_url: url,
    target_checksum: release.checksum,
    ...fields,
  };
}

/** Writes a manifest under its `upgrade_id`. @returns that id */
export function writeManifest(configDir: string, manifest: ManifestFields): string {
  const id = String(manifest.upgrade_id);
  const present = Object.fromEntries(Object.entries(manifest).filter(([, value]) => value !== undefined));
  writeFileSync(join(configDir, 'upgrades', String(manifest.chain_profile_id), `${id}.yaml`), yaml(present));
  return id;
}

/** JSON is YAML too. */
function yaml(content: object): string {
  return JSON.stringify(content, null, 2);
}
