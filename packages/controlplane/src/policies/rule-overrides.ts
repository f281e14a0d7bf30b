import type { RolloutOverrides } from '@hoodcloud/contracts/http/policies';
import { DomainError } from '@hoodcloud/domain/errors';
import { type HeldRule, heldRules } from '@hoodcloud/domain/start-gates/held-rules';
import { isSamePerson } from '../auth/same-person.ts';
import type { Db } from '../db/database.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { appendEvent } from '../events/append-event.ts';
import { reasonView } from '../http/reason-view.ts';
import { timestamp } from '../http/timestamps.ts';
import { databaseNow } from '../rollouts/database-clock.ts';
import { type ChainLimits, loadRolloutSnapshot } from '../rollouts/load-rollout-snapshot.ts';
import { nameNodesIn } from '../rollouts/name-nodes.ts';

/** The rule does not hold this rollout back, so there is nothing to set aside. */
export class RuleHoldsNothingError extends DomainError {
  constructor(rule: string, held: readonly HeldRule[]) {
    const others = held.map((one) => one.rule.name);
    const what = others.length === 0 ? 'No rule that can be set aside does.' : `Those that do: ${others.join(', ')}.`;
    super('rule_holds_nothing', `${rule} does not hold this rollout back now. ${what}`, { holding: others.join(', ') });
  }
}

/** Two persons are needed, and this is the first one again. */
export class SecondPersonNeededError extends DomainError {
  constructor(rule: string, first: string, actor: string) {
    super(
      'second_person_needed',
      `Two persons are needed: ${first} has set ${rule} aside already, and ${actor} is no second person. Somebody else must agree.`,
      { rule },
    );
  }
}

export interface OverrideOrder {
  readonly rolloutId: string;
  readonly rule: string;
  readonly reason: string;
  readonly expiresInSeconds: number;
  readonly actor: string;
}

/**
 * Notes that a person sets a rule aside for a rollout until it expires, and has the rollout ask again.
 * @throws RuleHoldsNothingError, SecondPersonNeededError
 */
export async function overrideRule(tx: Db, chains: ChainLimits, order: OverrideOrder): Promise<void> {
  const { rolloutId, rule, actor } = order;
  const now = await databaseNow(tx);
  const held = await holding(tx, chains, rolloutId, now);
  const found = held.find((one) => one.rule.name === rule);
  if (!found) throw new RuleHoldsNothingError(rule, held);
  if (found.rule.persons > 1) await refuseSamePerson(tx, order, new Date(now));
  const expiresAt = new Date(now + order.expiresInSeconds * 1000);
  await tx
    .insertInto('rule_overrides')
    .values({
      rollout_id: rolloutId,
      rule,
      actor,
      reason: order.reason,
      created_at: new Date(now),
      expires_at: expiresAt,
    })
    .execute();
  await appendEvent(tx, {
    kind: 'rule_overridden',
    subjectType: 'rollout',
    subjectId: rolloutId,
    rolloutId,
    severity: 'warning',
    actor,
    data: { rule, reason: order.reason, expires_at: timestamp(expiresAt) },
  });
  await wakeRollout(tx, rolloutId);
}

/** One who made the other's key, or is the other, is no second person. */
async function refuseSamePerson(tx: Db, { rolloutId, rule, actor }: OverrideOrder, now: Date): Promise<void> {
  const standing = await tx
    .selectFrom('rule_overrides')
    .select('actor')
    .where('rollout_id', '=', rolloutId)
    .where('rule', '=', rule)
    .where('expires_at', '>', now)
    .execute();
  for (const first of standing) {
    if (await isSamePerson(tx, first.actor, actor)) throw new SecondPersonNeededError(rule, first.actor, actor);
  }
}

async function holding(db: Db, chains: ChainLimits, rolloutId: string, now: number): Promise<HeldRule[]> {
  const snapshot = await loadRolloutSnapshot(db, rolloutId, chains, new Date(now), 'whole');
  return snapshot === null ? [] : heldRules(snapshot, now);
}

/** What was set aside for a rollout, and which rules hold it back that can be. */
export async function overridesOf(db: Db, chains: ChainLimits, rolloutId: string): Promise<RolloutOverrides> {
  const now = await databaseNow(db);
  const rows = await db
    .selectFrom('rule_overrides')
    .selectAll()
    .where('rollout_id', '=', rolloutId)
    .orderBy('created_at')
    .execute();
  const standing = rows.filter((row) => now < row.expires_at.getTime());
  const held = await holding(db, chains, rolloutId, now);
  const reasons = await nameNodesIn(
    db,
    held.map(({ reason }) => reason),
  );
  return {
    items: rows.map(({ id, rule, actor, reason, created_at, expires_at }) => ({
      id,
      rule,
      actor,
      reason,
      created_at: timestamp(created_at),
      expires_at: timestamp(expires_at),
      expired: now >= expires_at.getTime(),
    })),
    holding: held.map(({ rule, reason, nodeIds }, index) => ({
      rule: rule.name,
      persons: rule.persons,
      agreed: [...new Set(standing.filter((row) => row.rule === rule.name).map(({ actor }) => actor))],
      nodes: nodeIds.length,
      reason: reasonView(reasons[index] ?? reason),
    })),
  };
}
