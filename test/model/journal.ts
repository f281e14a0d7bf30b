import type { Database } from '@hoodcloud/controlplane/db/database';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import { isEndedRollout, type RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { expect } from 'vitest';
import type { RolloutUnderTest } from './rollout-under-test.ts';

/** Control and status change of a rollout, or the begin of an attempt, as its event tells it. */
interface Entry {
  readonly kind: string;
  readonly data: { readonly control?: RolloutControlKind; readonly from?: string; readonly to?: string };
}

/**
 * What must be true of everything that ever happened to a rollout: after a cancel nobody was commanded, an ended rollout
 * stayed ended but for a rollback, each attempt was commanded once, and no deadline ran out while people were waited for.
 */
export async function checkJournal(db: Database, real: RolloutUnderTest): Promise<void> {
  const entries = await db
    .selectFrom('events')
    .select(['kind', 'data'])
    .where('rollout_id', '=', real.id)
    .orderBy('id')
    .execute();
  let canceled = false;
  let turnedRound = false;
  for (const { kind, data } of entries as readonly Entry[]) {
    if (kind === 'rollout_control_ordered') {
      if (data.control === 'cancel') canceled = true;
      if (data.control === 'rollback') [canceled, turnedRound] = [false, true];
    }
    if (kind === 'node_upgrade_started') expect(canceled, `${real.id} began an attempt after a cancel`).toBe(false);
    const from = data.from as RolloutStatus | undefined;
    if (!kind.startsWith('rollout_') || from === undefined || !isEndedRollout(from)) continue;
    expect(turnedRound, `${real.id} left ${from} without a rollback`).toBe(true);
    turnedRound = false;
  }
  await checkCommands(db, real);
}

async function checkCommands(db: Database, { id, agents }: RolloutUnderTest): Promise<void> {
  const commands = await db.selectFrom('agent_commands').selectAll().where('rollout_id', '=', id).execute();
  const named = commands.map(({ attempt_id, operation }) => `${operation} ${attempt_id}`);
  expect(new Set(named).size, 'an attempt was commanded twice').toBe(named.length);
  expect(commands.filter(({ status }) => status === 'expired')).toEqual([]);
  const known = new Set(commands.map((command) => command.id));
  for (const { nodeId, deliveries } of agents.map((agent) => ({ ...agent, deliveries: agent.deliveries() }))) {
    for (const { commandId } of deliveries)
      expect(known, `${nodeId} had a command that nobody wrote`).toContain(commandId);
  }
}
