import type { Page } from '@hoodcloud/contracts/http/common';
import type { IncidentView } from '@hoodcloud/contracts/http/incidents';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import { reason } from '@hoodcloud/domain/reasons';
import { insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiFixture } from '../http/testing/api-fixture.ts';
import { openIncident } from './open-incident.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
});
afterAll(() => api.dispose());

async function open(dedupeKey: string, nodeId: string | null = null): Promise<string> {
  return openIncident(api.database.db, {
    category: 'upgrade_failed',
    severity: 'critical',
    nodeId,
    rolloutId: null,
    dedupeKey,
    summary: 'Log in and look.',
    recoveryPlan: 'Restore the snapshot.',
    reason: reason('failed_rollback', { error: 'x' }),
    actor: 'system:test',
  });
}

it('is shown with its node and what to do, then acknowledged and resolved by name', async () => {
  const nodeId = await insertNode(api.database.db, { name: 'val1' });
  const id = await open('a', nodeId);
  expect((await api.call<IncidentView>('GET', `/incidents/${id}`)).body).toMatchObject({
    status: 'open',
    node_name: 'val1',
    recovery_plan: 'Restore the snapshot.',
    runbook: 'docs/runbooks/upgrade_failed.md',
  });
  const acknowledged = await api.call<IncidentView>('POST', `/incidents/${id}/acknowledge`);
  expect(acknowledged.body).toMatchObject({ status: 'acknowledged', acknowledged_by: 'key:test' });
  for (const _ of [1, 2]) {
    const resolved = await api.call<IncidentView>('POST', `/incidents/${id}/resolve`);
    expect(resolved.body).toMatchObject({ status: 'resolved', resolved_by: 'key:test' });
  }
  const late = await api.call<Problem>('POST', `/incidents/${id}/acknowledge`);
  expect({ status: late.status, code: late.body.code }).toEqual({ status: 409, code: 'incident_resolved' });
  const kinds = await api.database.db
    .selectFrom('events')
    .select('kind')
    .where('subject_id', '=', id)
    .orderBy('id')
    .execute();
  expect(kinds.map(({ kind }) => kind)).toEqual(['incident_opened', 'incident_acknowledged', 'incident_resolved']);
});

it('is listed newest first, page by page', async () => {
  const ids = [];
  for (const cause of ['l1', 'l2', 'l3']) ids.push(await open(cause));
  const first = await api.call<Page<IncidentView>>('GET', '/incidents?status=open&limit=2');
  const second = await api.call<Page<IncidentView>>(
    'GET',
    `/incidents?status=open&limit=2&cursor=${first.body.next_cursor}`,
  );
  expect([...first.body.items, ...second.body.items].map(({ id }) => id)).toEqual(ids.reverse());
  expect(second.body.next_cursor).toBeNull();
});
