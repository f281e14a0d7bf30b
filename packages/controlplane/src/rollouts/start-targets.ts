import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { sentenceOf } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { judgeTargets, type TargetSources, type TargetSpec, targetNodeIds } from './judge-targets.ts';
import { nameNodesIn } from './name-nodes.ts';
import { NoEligibleNodesError } from './rollout-errors.ts';

/**
 * Refuses a start that would do nothing (C4). The nodes are judged again when the workflow resolves them.
 * @throws NoEligibleNodesError with each node's reason
 */
export async function refuseWithoutTargets(
  db: Db,
  sources: TargetSources,
  rollout: TargetSpec,
  now: number,
): Promise<void> {
  const judged = await judgeTargets(db, sources, rollout, await targetNodeIds(db, rollout), now);
  if ([...judged.values()].some(({ kind }) => kind === 'eligible')) return;
  const names = await nodeNames(db, [...judged.keys()]);
  const skipped = [...judged].flatMap(([id, it]) => (it.kind === 'skipped' ? [{ id, reason: it.reason }] : []));
  const reasons = await nameNodesIn(
    db,
    skipped.map(({ reason }) => reason),
  );
  const errors: FieldError[] = skipped.map(({ id, reason }, index) => ({
    field: names.get(id) ?? id,
    code: reason.code,
    message: sentenceOf(reasons[index] ?? reason),
  }));
  throw new NoEligibleNodesError(errors);
}

async function nodeNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'name'])
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
