import { AGENT_BINARY_NAME } from '@hoodcloud/domain/agent-binary';
import { type Eligibility, judgeEligibility, type RolloutTargetFacts } from '@hoodcloud/domain/eligibility';
import { artifactFor, type TargetArtifact } from '@hoodcloud/domain/target-artifact';
import type { Db } from '../db/database.ts';
import type { PayloadCipher } from '../db/payload-cipher.ts';
import type { ChainFiles, RenderConfigs } from './chain-facts.ts';
import { type InstalledFrom, loadEligibilityFacts, loadInstalledFrom } from './load-eligibility-facts.ts';
import { fieldsOf, type NamedArtifacts, targetArtifacts } from './target-artifacts.ts';

/** The part of a rollout that says which nodes it is for and what they become. */
export interface TargetSpec extends NamedArtifacts {
  readonly id: string;
  readonly chain_profile_id: string;
  readonly node_type: string;
  readonly binary_name: string;
  readonly target_version: string;
  readonly offline_policy: 'skip' | 'wait';
  readonly retry_failed: boolean;
  readonly config_changes: unknown;
  /** Null: every node of the chain and type. */
  readonly node_ids: readonly string[] | null;
}

export interface TargetSources {
  readonly chains: ChainFiles;
  readonly renderConfigs: RenderConfigs;
  /** Seals what agents are sent (C12); stored as it is when left out. */
  readonly payloads?: PayloadCipher;
}

/** Ids of the nodes a rollout is about, before anything is judged. */
export async function targetNodeIds(db: Db, spec: TargetSpec): Promise<string[]> {
  if (spec.node_ids !== null) return [...new Set(spec.node_ids)];
  const rows = await db
    .selectFrom('nodes')
    .select('id')
    .where('chain_profile_id', '=', spec.chain_profile_id)
    .where('node_type', '=', spec.node_type)
    .where('state', 'not in', ['terminated', 'failed'])
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Judges nodes for a rollout, each with the reason when it is left out (C4). */
export async function judgeTargets(
  db: Db,
  sources: TargetSources,
  spec: TargetSpec,
  nodeIds: readonly string[],
  now: number,
): Promise<Map<string, Eligibility>> {
  const { id: rolloutId, binary_name: binaryName, target_version: targetVersion } = spec;
  const fleet = await loadEligibilityFacts(db, { rolloutId, binaryName, targetVersion, nodeIds, now });
  const targets = targetArtifacts(spec);
  const platforms = targets.kind === 'by_platform' ? Object.keys(targets.artifacts) : null;
  // a file's digest is that of its artifact: only of members is it asked what they became on the node
  const hasMembers = fieldsOf(targets).some(({ artifact }) => artifact.member !== null);
  const installed = hasMembers
    ? await loadInstalledFrom(db, spec.binary_name, nodeIds)
    : new Map<string, InstalledFrom>();
  const runtime = await sources.chains.runtime(spec.chain_profile_id);
  const configs = await sources.renderConfigs(spec, nodeIds);
  const judged = [...fleet.values()].map((facts) => {
    const target: RolloutTargetFacts = {
      rolloutId: spec.id,
      nodeType: spec.node_type,
      binaryName: spec.binary_name,
      targetVersion: spec.target_version,
      now,
      // the chain's file speaks of its nodes; the agent beside them is a systemd unit whatever they are
      runtimeType: spec.binary_name === AGENT_BINARY_NAME ? null : (runtime?.runtime.type ?? null),
      targetDigests: digestsOf(artifactFor(targets, facts.platform), installed.get(facts.nodeId)),
      platforms,
      targetConfigHashes: Object.fromEntries(
        (configs.get(facts.nodeId) ?? []).map(({ path, checksum }) => [path, checksum]),
      ),
      offlinePolicy: spec.offline_policy,
      retryFailed: spec.retry_failed,
    };
    return [facts.nodeId, judgeEligibility(facts, target)] as const;
  });
  return new Map(judged);
}

/** A member's digest is known where this node once installed it out of this archive (A6). */
function digestsOf(artifact: TargetArtifact | null, installed: InstalledFrom | undefined): string[] {
  if (artifact === null) return [];
  if (artifact.member === null) return [artifact.checksum];
  const same = installed?.checksum === artifact.checksum && installed.member === artifact.member;
  return same && installed.installedChecksum !== null ? [installed.installedChecksum] : [];
}
