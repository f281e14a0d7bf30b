import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { processLog } from '../telemetry/process-log.ts';
import { nodeWorkflowId, rolloutWorkflowId } from './workflow-ids.ts';

const planted = { config: randomBytes(12).toString('hex'), log: randomBytes(12).toString('hex') };
let logged = '';
let lab: RolloutLab;
beforeAll(async () => {
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      logged += chunk;
      done();
    },
  });
  lab = await RolloutLab.open({ log: processLog('trace', { role: 'worker' }, destination) });
});
afterAll(() => lab.close());

/** Everything that the engine keeps of a workflow, the content of its payloads included. */
async function historyOf(workflowId: string): Promise<string> {
  const history = await lab.client.workflow.getHandle(workflowId).fetchHistory();
  return JSON.stringify(history, (_, value) => {
    if (value?.type === 'Buffer') return Buffer.from(value.data).toString('utf8');
    return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
  });
}

it('neither a rendered config nor a log of a host is in a history or a log (C12)', async () => {
  lab.script.configs = () => [
    { path: '/etc/chain/app.toml', content: Buffer.from(`password = "${planted.config}"`), checksum: 'sha256:00' },
  ];
  lab.script.agent = ({ payload }) => {
    const sent = Buffer.from(payload.configFiles[0]?.content ?? []).toString();
    expect(sent).toContain(planted.config); // it does reach the agent
    return { outcome: 'rolled_back', error: `panic: bad password ${planted.log}` };
  };
  const { rolloutId, nodes } = await lab.scene(1);
  const [nodeId = ''] = nodes;
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'completed', 'paused', 'failed');
  // what people read is in Postgres
  expect((await lab.row(rolloutId, nodeId)).error_message).toContain(planted.log);

  const histories = [await historyOf(rolloutWorkflowId(rolloutId)), await historyOf(nodeWorkflowId(rolloutId, nodeId))];
  expect(histories.join()).toContain(nodeId); // payloads are readable here, so the absence below means something
  for (const secret of Object.values(planted)) {
    expect(histories.join()).not.toContain(secret);
    expect(logged).not.toContain(secret);
  }
});
