import { runAgainst } from '@hoodcloud/cli/testing/cli-run';
import type { Page, ReasonView } from '@hoodcloud/contracts/http/common';
import type { NodeDetail } from '@hoodcloud/contracts/http/nodes';
import type { RolloutGroupDetail, RolloutGroupStatusView } from '@hoodcloud/contracts/http/rollout-groups';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import type { WaitingReasonCode } from '@hoodcloud/domain/why/waiting-reasons';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CASE_KEYS, placeCase, type ReadableCase, WAITING_CODES } from './place-case.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create({ manifestKeys: CASE_KEYS, requestsPerMinute: 100_000 });
});
afterAll(() => api.dispose());

/** hoodctl's way to the same API, without a socket. */
const throughApi: typeof fetch = async (input, init) => {
  const { pathname, search } = new URL(String(input));
  const headers = Object.fromEntries(new Headers(init?.headers));
  const answer = await api.app.inject({
    method: 'GET',
    url: pathname + search,
    headers: { ...headers, ...authorized() },
  });
  return new Response(answer.body, { status: answer.statusCode });
};
const authorized = () => ({ authorization: `Bearer ${api.key}` });

async function askApi({ ask, rolloutId }: ReadableCase): Promise<ReasonView[][]> {
  if (ask.kind === 'group') {
    const { body } = await api.call<RolloutGroupDetail>('GET', `/rollout-groups/${ask.id}`);
    const status = await api.call<RolloutGroupStatusView>('GET', `/rollout-groups/${ask.id}/status`);
    return [body.why, status.body.why];
  }
  if (ask.kind === 'rollout') return [(await api.call<RolloutDetail>('GET', `/rollouts/${ask.id}`)).body.why];
  const { why } = (await api.call<NodeDetail>('GET', `/nodes/${ask.id}`)).body;
  if (rolloutId === null) return [why];
  const page = await api.call<Page<RolloutNodeView>>('GET', `/rollouts/${rolloutId}/nodes?node_id=${ask.id}`);
  return [page.body.items[0]?.why ?? []];
}

async function askCli({ ask, rolloutId }: ReadableCase): Promise<string[]> {
  const words = {
    rollout: [`rollout status ${ask.id}`],
    node: [`node why ${ask.id}`, ...(rolloutId === null ? [] : [`rollout nodes ${rolloutId}`])],
    group: [`group status ${ask.id}`, `group show ${ask.id}`],
  };
  const runs = words[ask.kind].map((line) => runAgainst(throughApi, line.split(' ')));
  return (await Promise.all(runs)).map(({ out, err }) => out + err);
}

it.each(WAITING_CODES)('API and hoodctl answer %s with the same sentences (C11)', async (code: WaitingReasonCode) => {
  const placed = await placeCase(api, code);
  for (const why of await askApi(placed)) {
    expect(why.map(({ sentence }) => sentence)).toEqual(placed.sentences);
    expect(why.map((one) => one.code)).toContain(code);
  }
  for (const text of await askCli(placed)) {
    for (const sentence of placed.sentences) expect(text).toContain(sentence);
  }
});

it('a node says beside its rollout what would keep it from being changed', async () => {
  const { ask } = await placeCase(api, 'agent_silent', '-again');
  await api.database.db.updateTable('nodes').set({ quarantined_at: new Date() }).where('id', '=', ask.id).execute();
  const { body } = await api.call<NodeDetail>('GET', `/nodes/${ask.id}`);
  expect(body.why.map(({ code }) => code)).toEqual(['agent_silent', 'command_begins', 'node_quarantined']);
});
