import { afterAll, beforeAll, expect, it } from 'vitest';
import { heartbeatRetention } from './heartbeat-retention.ts';
import { HealthFixture } from './testing/health-fixture.ts';

let fixture: HealthFixture;
beforeAll(async () => {
  fixture = await HealthFixture.create();
});
afterAll(() => fixture.dispose());

const DAY = 24 * 3600;

it('forgets heartbeats after a day, but none that an open validation counts', async () => {
  const old = await fixture.node();
  const validating = await fixture.node();
  await fixture.validation(validating.nodeId);
  await fixture.beats(old, 0, 10);
  await fixture.beats(validating, 5, 10);
  const retention = heartbeatRetention(fixture.services);
  expect(await retention.run(fixture.at(DAY - 1))).toBe(0);
  expect(await retention.run(fixture.at(DAY + 7))).toBe(2);
  expect(await retention.run(fixture.at(2 * DAY))).toBe(1);
  const left = await fixture.db.selectFrom('node_heartbeats').select('node_id').execute();
  expect(left).toEqual([{ node_id: validating.nodeId }, { node_id: validating.nodeId }]);
});

it('forgets sessions a month after their end, never an open one', async () => {
  const { nodeId, sessionId } = await fixture.node();
  const open = await fixture.session(nodeId);
  const retention = heartbeatRetention(fixture.services);
  await retention.run(fixture.at(31 * DAY));
  const left = await fixture.db.selectFrom('agent_sessions').select('id').where('node_id', '=', nodeId).execute();
  expect(left).toEqual([{ id: open }]);
  expect(sessionId).not.toBe(open);
});
