import { reason } from '@hoodcloud/domain/reasons';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nameNodesIn, nameNodesOf } from './name-nodes.ts';

const UNKNOWN = '99999999-9999-4999-8999-999999999999';

let database: MigratedDatabase;
let one: string;
let two: string;

beforeAll(async () => {
  database = await createMigratedDatabase();
  one = await insertNode(database.db, { name: 'mocha-1' });
  two = await insertNode(database.db, { name: 'mocha-2' });
});
afterAll(() => database.dispose());

it('names the nodes that a reason is about, and leaves the rest as it is', async () => {
  const failed = reason('canary_failed', { node: `${one}, ${two}` }, [one, two]);
  const flying = reason('nodes_in_flight', { count: 2, batch: 0 });
  const named = await nameNodesIn(database.db, [failed, flying]);
  expect(named).toEqual([reason('canary_failed', { node: 'mocha-1, mocha-2' }, [one, two]), flying]);
});

it('names them in everything that a decision says, and keeps the id of a node that is gone', async () => {
  const why = reason('canary_failed', { node: one });
  const beside = reason('agent_offline', { node: UNKNOWN, since: 'ever' });
  const decision = { kind: 'pause', status: 'paused', reason: why, reasons: [why, beside] } as const;
  const named = { ...why, params: { node: 'mocha-1' } };
  expect(await nameNodesOf(database.db, decision)).toEqual({ ...decision, reason: named, reasons: [named, beside] });
});
