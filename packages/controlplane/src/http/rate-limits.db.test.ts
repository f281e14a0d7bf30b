import type { Problem } from '@hoodcloud/contracts/http/problem';
import { expect, it } from 'vitest';
import { ApiFixture } from './testing/api-fixture.ts';

it('a key that asks too much is answered 429 with Retry-After, and the others are not', async () => {
  const limited = await ApiFixture.create({ requestsPerMinute: 5 });
  const other = await limited.call<{ secret: string }>('POST', '/api-keys', { name: 'other' });
  for (let n = 0; n < 4; n++) expect((await limited.call('GET', '/nodes')).status).toBe(200);
  const refused = await limited.call<Problem>('GET', '/nodes');
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', status: 429 } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(refused.headers['content-type']).toContain('application/problem+json');
  const authorization = `Bearer ${other.body.secret}`;
  expect((await limited.call('GET', '/nodes', undefined, { authorization })).status).toBe(200);
  await limited.dispose();
});
