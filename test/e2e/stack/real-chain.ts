import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A chain whose real program the tests run: what an operator writes into its profile. */
export interface RealChain {
  readonly id: string;
  readonly binary: string;
  readonly runtimeType: 'systemd' | 'docker';
  readonly health: Readonly<Record<string, string | number>>;
  /** The profile's `quorum`; left out: none is guarded. */
  readonly quorum?: Readonly<Record<string, string>>;
}

/** A version by its content: a file's SHA-256, or an image's digest. */
export interface RealVersion {
  readonly version: string;
  /** `sha256:<hex>`. */
  readonly checksum: string;
}

/** A version that nodes can be upgraded to: a file at an address, or an image by `name@sha256:…`. */
export interface OfferedVersion extends RealVersion {
  readonly url: string;
  /** The version is inside an archive, whose checksum is then the one above; told by platform, as one manifest for all. */
  readonly member?: string;
  /** By default its version. */
  readonly upgradeId?: string;
  /** Steps of the vendor, as a manifest says them. */
  readonly hooks?: readonly object[];
}

export const NODE_TYPE = 'validator';

/** Writes the chain's profile, its runtime file and one manifest a target, as an operator's config folder has them. */
export async function writeRealChain(
  configDir: string,
  chain: RealChain,
  running: RealVersion,
  targets: readonly OfferedVersion[],
): Promise<void> {
  const folder = join(configDir, chain.id);
  const upgrades = join(configDir, 'upgrades', chain.id);
  for (const path of [folder, upgrades]) await mkdir(path, { recursive: true });
  await writeFile(join(folder, 'profile.yaml'), yaml(profile(chain, running)));
  await writeRuntime(configDir, chain);
  for (const target of targets) {
    await writeFile(join(upgrades, `${target.upgradeId ?? target.version}.yaml`), yaml(manifest(chain, target)));
  }
}

/** Writes the chain's runtime file anew: `budgets` are those that differ from the specification's. */
export async function writeRuntime(
  configDir: string,
  { id, runtimeType }: Pick<RealChain, 'id' | 'runtimeType'>,
  budgets: Readonly<Record<string, number>> = {},
): Promise<void> {
  await writeFile(join(configDir, id, 'runtime.yaml'), yaml({ runtime: { type: runtimeType }, budgets }));
}

function profile({ id, binary, runtimeType, health, quorum }: RealChain, running: RealVersion): object {
  const artifactKind = runtimeType === 'docker' ? 'image' : 'file';
  const known = { version: running.version, checksum: running.checksum };
  return {
    chain_profile_id: id,
    node_types: [NODE_TYPE],
    binaries: [{ name: binary, artifact_kind: artifactKind, known_versions: [known] }],
    // life signs wanted of a node before it counts, short enough for a test (D4c wants ten seconds in production)
    health: { health_wait_seconds: 6, stable_seconds: 3, ...health },
    ...(quorum && { quorum }),
  };
}

const PLATFORM = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

function manifest({ id, binary }: RealChain, target: OfferedVersion): object {
  const { version, url, checksum, member, upgradeId = version, hooks = [] } = target;
  const elsewhere = { url: `${url}-for-others`, checksum, member };
  const artifacts = { 'linux/s390x': elsewhere, [PLATFORM]: { url, checksum, member } };
  return {
    upgrade_id: upgradeId,
    chain_profile_id: id,
    node_type: NODE_TYPE,
    binary_name: binary,
    target_version: version,
    ...(member === undefined ? { target_url: url, target_checksum: checksum } : { artifacts }),
    state_compatibility: { migration_type: 'compatible' },
    hooks,
  };
}

/** JSON is YAML too. */
function yaml(content: object): string {
  return JSON.stringify(content, null, 2);
}
