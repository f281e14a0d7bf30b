import { describe, expect, it } from 'vitest';
import { compileChainJudge, type JudgedComponent } from './chain-judge.ts';

const rules = {
  healthy_expression: 'metrics.peers > 0',
  synced_expression: 'metrics.catching_up == 0',
  ready_expression: 'metrics.signed > 0',
  height_metric: 'height',
  health_wait_seconds: 60,
  stable_seconds: 10,
  max_restarts: 3,
};
const judge = compileChainJudge(rules);

function component(metrics: Record<string, number>, overrides: Partial<JudgedComponent> = {}): JudgedComponent {
  const samples = Object.entries(metrics).map(([name, value]) => ({ name, labels: {}, value }));
  return { active: true, mainPid: 1, metrics: samples, ...overrides };
}

it('asks for the metrics that the expressions and the height need, and no others (D0a)', () => {
  expect(judge.metricNames).toEqual(['catching_up', 'height', 'peers', 'signed']);
});

it.each([
  [{ peers: 3, catching_up: 0, signed: 1, height: 7 }, 'ok', 'synced', 7, true],
  [{ peers: 0, catching_up: 1, signed: 0, height: 7.9 }, 'degraded', 'syncing', 7, false],
  [{}, 'unknown', 'unknown', null, null],
  [{ peers: Number.NaN, height: Number.NaN }, 'degraded', 'unknown', null, null],
  [{ height: -1 }, 'unknown', 'unknown', null, null],
])('judges %o', (metrics, application_health, sync_status, height, ready) => {
  expect(judge.judge([component(metrics)])).toEqual({ application_health, sync_status, height, ready });
});

describe('a component that does not run is critical, whatever its last metrics say', () => {
  it.each([{ active: false }, { mainPid: 0 }])('%o', (overrides) => {
    const components = [component({ peers: 3 }), component({}, overrides)];
    expect(judge.judge(components).application_health).toBe('critical');
  });
});

it('reads the metrics of all components of a node together, and its greatest height: the node itself says it (field-case 129)', () => {
  const components = [component({ peers: 3, height: 5 }), component({ catching_up: 0, height: 9 })];
  expect(judge.judge(components)).toMatchObject({ application_health: 'ok', sync_status: 'synced', height: 9 });
});

it('takes no harm from a metric with an odd name', () => {
  const odd = { name: '__proto__', labels: {}, value: 1 };
  expect(judge.judge([component({ peers: 1 }, { metrics: [odd] })]).application_health).toBe('unknown');
});

describe('duties of a node', () => {
  const duties = [
    {
      name: 'proposer',
      free_expression: 'metrics.slots_to_next > 32.0',
      wait_seconds_expression: 'metrics.slots_to_next * 12.0',
    },
    { name: 'committee', free_expression: 'metrics.in_committee == 0.0' },
  ];
  const withDuties = compileChainJudge({ ...rules, duties });
  const judged = (metrics: Record<string, number>) => withDuties.judge([component(metrics)]).duties;

  it('are judged by its own metrics, which the agent is asked to send', () => {
    expect(withDuties.metricNames).toEqual(expect.arrayContaining(['in_committee', 'slots_to_next']));
    expect(judged({ slots_to_next: 2, in_committee: 0 })).toEqual([
      { name: 'proposer', free: false, waitSeconds: 24, missing: [] },
      { name: 'committee', free: true, waitSeconds: null, missing: [] },
    ]);
  });

  it('are not known without the metric, which is named; and not in a chain without duties', () => {
    expect(judged({ in_committee: 1 })).toEqual([
      { name: 'proposer', free: null, waitSeconds: null, missing: ['slots_to_next'] },
      { name: 'committee', free: false, waitSeconds: null, missing: [] },
    ]);
    expect(judge.judge([component({})])).not.toHaveProperty('duties');
  });
});
