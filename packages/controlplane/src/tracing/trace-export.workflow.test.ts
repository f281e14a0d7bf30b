import { attemptId } from '@hoodcloud/domain/agent-operation';
import { reason } from '@hoodcloud/domain/reasons';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../config.ts';
import { publishEvents } from '../events/event-relay.ts';
import { HookReceiver } from '../notifications/testing/hook-receiver.ts';
import { degradations } from '../telemetry/degradations.ts';
import { traceIdOf } from './attempt-spans.ts';
import { OtlpExporter } from './otlp-exporter.ts';
import { receivedSpans } from './testing/received-spans.ts';
import { traceExport } from './trace-export.ts';

let lab: RolloutLab;
let receiver: HookReceiver;
let exporter: OtlpExporter;
beforeAll(async () => {
  lab = await RolloutLab.open();
  receiver = await HookReceiver.start();
  const env = { DATABASE_URL: 'postgres://h/d', HOODCLOUD_CONFIG_DIR: '/c' };
  const { tracesUrl } = readConfig({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: new URL(receiver.url).origin });
  exporter = new OtlpExporter(tracesUrl ?? '');
});
afterAll(async () => {
  await exporter.close();
  await receiver.stop();
  await lab.close();
});
beforeEach(async () => {
  lab.script = {};
  receiver.answer = () => ({ status: 200, text: '{}' });
  await exportTraces(); // the export is on before anything happens
  receiver.received.length = 0;
});

const exportTraces = async () => {
  await publishEvents(lab.db);
  const { run } = traceExport(lab.db, async () => exporter);
  while ((await run(new Date())) > 0);
};

const STEPS = [
  { name: 'check_disk', result: 'executed', durationMs: 1 },
  { name: 'stop_node', result: 'executed', durationMs: 2 },
  { name: 'start_node', result: 'executed', durationMs: 1 },
];

/** Runs a rollout over one node to its end. */
async function oneNode(): Promise<{ rolloutId: string; nodeId: string }> {
  const { rolloutId, nodes } = await lab.scene(1);
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'completed', 'paused', 'failed');
  return { rolloutId, nodeId: nodes[0] ?? '' };
}

/** Each span as the way that leads to it. */
function ways(spans: ReturnType<typeof receivedSpans>): string[] {
  const way = (id: string | undefined): string[] => {
    const span = spans.find(({ spanId }) => spanId === id);
    return span ? [...way(span.parentSpanId), `${span.service.replace('hoodcloud-', '')}: ${span.name}`] : [];
  };
  return spans.map(({ spanId }) => way(spanId).join(' > '));
}

it('an upgrade is one trace from the order given to the API down to each action of the agent, at an OTLP receiver', async () => {
  await lab.db.deleteFrom('event_cursors').where('consumer', '=', 'traces').execute();
  await oneNode(); // before the export was switched on
  await exportTraces();
  expect(receivedSpans(receiver.received)).toEqual([]);

  lab.script.agent = ({ operation }) => ({ outcome: 'completed', steps: operation === 'UPGRADE' ? STEPS : [] });
  const { rolloutId, nodeId } = await oneNode();
  await exportTraces();
  const spans = receivedSpans(receiver.received);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(attemptId(rolloutId, nodeId, 1))]));
  const workflow = 'api: order start > worker: UpgradeNodeWorkflow';
  const agent = `${workflow} > gateway: command UPGRADE > agent: agent UPGRADE`;
  expect(ways(spans)).toEqual(
    expect.arrayContaining([
      'api: order start',
      workflow,
      agent,
      `${agent} > agent: check_disk`,
      `${agent} > agent: stop_node`,
      `${agent} > agent: start_node`,
      `${workflow} > worker: health validation`,
    ]),
  );
  for (const span of spans) {
    expect(span.end, span.name).toBeGreaterThanOrEqual(span.start);
    expect(span.error, span.name).toBe(null);
    expect(span.attributes).toMatchObject({ 'hoodcloud.node_id': nodeId, 'hoodcloud.rollout_id': rolloutId });
  }
});

it('a rollback after failed health is in the trace, and each failed part says why', async () => {
  lab.script.agent = ({ operation }) => ({
    outcome: 'completed',
    steps: operation === 'COMPENSATE' ? [{ name: 'start_node', result: 'compensated', durationMs: 1 }] : STEPS,
  });
  lab.script.health = () => [reason('crash_loop', { restarts: 4 })];
  await oneNode();
  await exportTraces();
  const spans = receivedSpans(receiver.received);
  expect(ways(spans)).toContain(
    'api: order start > worker: UpgradeNodeWorkflow > gateway: command COMPENSATE > agent: agent COMPENSATE > agent: start_node',
  );
  const failed = spans.filter(({ error }) => error !== null).map(({ name }) => name);
  expect(failed.sort()).toEqual(['UpgradeNodeWorkflow', 'health validation']);
});

it('a receiver that takes nothing delays nobody, and has the trace under the same ids once it takes it again', async () => {
  const refused: string[] = [];
  receiver.answer = ({ body }) => {
    refused.push(body);
    return { status: 400 };
  };
  await oneNode();
  await expect(exportTraces()).rejects.toThrow();
  expect(degradations()).toEqual([expect.stringMatching(/^traces: what ended since waits/)]);
  receiver.answer = () => ({ status: 200, text: '{}' });
  await exportTraces();
  expect(degradations()).toEqual([]);
  expect(receiver.received.map(({ body }) => body)).toEqual(refused);
});
