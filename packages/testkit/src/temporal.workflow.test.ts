import { SEARCH_ATTRIBUTES } from '@hoodcloud/controlplane/dev/temporal-server';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedTemporalAddress } from './temporal.ts';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: sharedTemporalAddress() });
});
afterAll(() => connection.close());

it('has the product’s search attributes as keywords', async () => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(SEARCH_ATTRIBUTES));
});

it('is the real server', async () => {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  expect(serverVersion).toMatch(/^1\./);
});
