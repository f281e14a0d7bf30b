import type { PlanFacts, PlanNodeFacts } from '@hoodcloud/domain/plan-differences';
import { sentenceOf } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { loadHostConfigs } from '../rollouts/plan/host-configs.ts';
import type { PreparedRollout } from '../rollouts/prepare-rollout.ts';

/** Everything that a plan rests on: what is installed, on which nodes, over what, with which configs. */
export async function planFacts(db: Db, prepared: PreparedRollout): Promise<PlanFacts> {
  const { draft, nodes, configs } = prepared;
  const { upgrade } = draft;
  const binary = upgrade.binary_name ?? '';
  const ids = nodes.map(({ id }) => id);
  const running = await runningChecksums(db, binary, ids);
  const hosts = new Map((await loadHostConfigs(db, binary, ids)).map((host) => [host.id, host]));
  const entries = nodes.map((node): [string, PlanNodeFacts] => [
    node.id,
    {
      name: node.name,
      version: node.version,
      running: running.get(node.id) ?? null,
      leftOut: leftOut(node),
      configs: Object.fromEntries(
        (configs.get(node.id) ?? []).map(({ path, checksum }) => [
          path,
          { planned: checksum, now: hosts.get(node.id)?.seen[path] ?? null },
        ]),
      ),
    },
  ]);
  return {
    upgrade: {
      manifest_content_hash: upgrade.manifest_content_hash,
      binary_name: upgrade.binary_name,
      target_version: upgrade.target_version,
      target_binary_url: upgrade.target_binary_url,
      target_binary_checksum: upgrade.target_binary_checksum,
      migration_type: upgrade.migration_type,
      drift_policy: upgrade.drift_policy,
      hooks: upgrade.hooks.map((hook) => JSON.stringify(hook)).join('\n'),
      artifact_kind: draft.artifactKind,
      health_wait_ms: draft.healthWaitMs,
      two_person_approval: draft.twoPersonApproval,
      start_approval: draft.startApproval,
    },
    nodes: Object.fromEntries(entries),
  };
}

function leftOut({ eligibility }: PreparedRollout['nodes'][number]): PlanNodeFacts['leftOut'] {
  if (eligibility.kind === 'eligible') return null;
  return { code: eligibility.reason.code, sentence: sentenceOf(eligibility.reason) };
}

async function runningChecksums(db: Db, binaryName: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('node_components')
    .select(['node_id', 'running_checksum'])
    .where('binary_name', '=', binaryName)
    .where('node_id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();
  return new Map(rows.flatMap(({ node_id, running_checksum: hash }) => (hash === null ? [] : [[node_id, hash]])));
}
