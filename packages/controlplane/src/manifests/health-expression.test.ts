import { describe, expect, it } from 'vitest';
import { compileHealthExpression, HealthExpressionError, type MetricValues } from './health-expression.ts';

const metrics: MetricValues = {
  height: [{ labels: { chain_id: 'c' }, value: 120 }],
  syncing: [{ labels: {}, value: 0 }],
  signed: [
    { labels: { validator: 'A' }, value: 119 },
    { labels: { validator: 'B' }, value: 40 },
  ],
};

describe('compileHealthExpression', () => {
  it.each([
    ['metrics.syncing == 0', true],
    ['metrics.height - series.signed[0].value <= 5.0', true],
    ['series.signed.exists(s, s.labels.validator == "B" && s.value < 50)', true],
    ['metrics["syncing"] > 0', false],
    ['has(metrics.peers) && metrics.peers > 0', false],
  ])('evaluates %s', (text, expected) => {
    expect(compileHealthExpression(text).evaluate(metrics)).toBe(expected);
  });

  it.each([
    'metrics.signed > 0',
    'metrics.peers > 0',
    'metrics.syncing == 0 && metrics.peers > 0',
    'metrics.height + 1',
  ])('cannot tell %s, which never counts as true (D3, D4b)', (text) => {
    expect(compileHealthExpression(text).evaluate(metrics)).toBeNull();
  });

  it('names the metrics that the agent must send (D0a)', () => {
    const text = 'metrics.height > 0 && has(metrics.peers) && series["signed"].exists(s, s.value > 1)';
    expect(compileHealthExpression(text).metricNames).toEqual(['height', 'peers', 'signed']);
  });

  it.each([
    ['metrics.height >', 'not a CEL expression'],
    ['metric.height > 1', 'unknown name "metric"'],
  ])('refuses %s', (text, message) => {
    expect(() => compileHealthExpression(text)).toThrow(HealthExpressionError);
    expect(() => compileHealthExpression(text)).toThrow(message);
  });
});
