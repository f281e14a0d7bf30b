import type { Page } from '@hoodcloud/contracts/http/common';
import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json } from '../db/json.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { parseProfile } from '../manifests/chain-files.ts';

const DUTIES = `${TEST_PROFILE}duties:
  - name: proposer
    free_expression: metrics.slots_to_next > 32.0
    wait_seconds_expression: metrics.slots_to_next * 12.0
`;

let api: ApiFixture;
let nodeId: string;
let rolloutId: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', DUTIES);
  const { db } = api.database;
  nodeId = await insertNode(db, { name: 'val-1' });
  rolloutId = await insertRollout(db, { status: 'running', targets_resolved_at: new Date() });
  await insertRolloutNode(db, rolloutId, nodeId);
});
afterAll(() => api.dispose());

/** A heartbeat as the gateway stores it. */
async function heartbeat(judged: object): Promise<void> {
  const { db, pool } = api.database;
  await pool.query('update nodes set last_heartbeat_at = now()');
  const sessionId = crypto.randomUUID();
  await db
    .insertInto('node_heartbeats')
    .values({ node_id: nodeId, session_id: sessionId, components: json([]), judged: json(judged) })
    .execute();
}

async function why() {
  const { body } = await api.call<Page<RolloutNodeView>>('GET', `/rollouts/${rolloutId}/nodes`);
  return body.items[0]?.why;
}

describe('a node of a chain with duties', () => {
  it('waits without a heartbeat that was judged by them: what is not known is not free', async () => {
    expect(await why()).toMatchObject([{ code: 'duty_unknown', params: { node: 'val-1', duty: 'proposer' } }]);
    await heartbeat({ application_health: 'ok' });
    expect(await why()).toMatchObject([{ code: 'duty_unknown' }]);
  });

  it('waits while its latest heartbeat says so, and says when it is free next', async () => {
    await heartbeat({ duties: [{ name: 'proposer', free: false, waitSeconds: 24, missing: [] }] });
    const next = 'its next free window comes in about 24 s';
    expect(await why()).toMatchObject([{ code: 'on_duty', params: { next } }]);
    await heartbeat({ duties: [{ name: 'proposer', free: true, waitSeconds: null, missing: [] }] });
    expect(await why()).toMatchObject([{ code: 'batch_started' }]);
  });

  it('is not held by one that a command on its host tells, which its agent asks right before the stop', async () => {
    const ask = '  - { name: window, ask: { command: ["{binary}", wait] } }\n';
    await api.writeConfig('testchain/profile.yaml', `${DUTIES}${ask}`);
    await heartbeat({ duties: [{ name: 'proposer', free: true, waitSeconds: null, missing: [] }] });
    expect(await why()).toMatchObject([{ code: 'batch_started' }]);
  });

  it('is free of a duty that the profile no longer has', async () => {
    await heartbeat({ duties: [{ name: 'proposer', free: false, waitSeconds: null, missing: [] }] });
    await api.writeConfig('testchain/profile.yaml', `${TEST_PROFILE}# no duties\n`);
    expect(await why()).toMatchObject([{ code: 'batch_started' }]);
  });
});

it.each([
  ['duties.0.free_expression', DUTIES.replace('metrics.slots_to_next > 32.0', 'slots > 32.0')],
  ['duties.0.wait_seconds_expression', DUTIES.replace('* 12.0', '*')],
  ['duties.1.name', `${DUTIES}  - name: proposer\n    free_expression: metrics.up == 1\n`],
  ['duties.0.name', DUTIES.replace('name: proposer', 'name: Next Block')],
  ['duties.0', `${TEST_PROFILE}duties: [{ name: window }]\n`],
  ['duties.1.ask.command', `${DUTIES}  - { name: window, ask: { command: ["node wait"] } }\n`],
  ['duties.1.ask.ask_again.0', `${DUTIES}  - { name: window, ask: { command: ["{binary}"], ask_again: [0] } }\n`],
  [
    'duties.2.ask',
    `${DUTIES}${['one', 'two'].map((name) => `  - { name: ${name}, ask: { command: ["{binary}"] } }\n`).join('')}`,
  ],
])('a profile with a duty that can not be is refused by its field %s', (field, text) => {
  expect(() => parseProfile('testchain/profile.yaml', text, 'testchain')).toThrow(field);
});
