import { expect, test } from 'vitest';
import { MAX_NAMED_NODES, REASONS, type ReasonCode, reason, sentenceOf } from './reasons.ts';

test('every reason has a severity and a sentence that ends (field-case 111)', () => {
  for (const [code, { severity, sentence }] of Object.entries(REASONS)) {
    expect(['info', 'warning', 'critical'], code).toContain(severity);
    expect(sentence, code).toMatch(/[.}?]$/);
    expect(code).toMatch(/^[a-z][a-z_]*$/);
    expect(code.length, `${code} fits its column`).toBeLessThanOrEqual(50);
  }
});

test('a sentence is filled from the parameters, and a missing one shows', () => {
  expect(sentenceOf(reason('max_failures_exceeded', { failed: 3, limit: 2 }))).toBe(
    '3 nodes failed, and at most 2 may.',
  );
  expect(sentenceOf(reason('max_failures_exceeded', { failed: 3 }))).toContain('at most ? may');
  expect(sentenceOf(reason('max_failures_exceeded', { failed: 1, limit: 0 }))).toContain('1 node failed');
});

test('at most fifty nodes are named: a reason is stored with every answer', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
  expect(reason('nodes_in_flight', { count: ids.length }, ids).nodeIds).toEqual(ids.slice(0, MAX_NAMED_NODES));
});

test('nodes are named only when they are given', () => {
  expect(reason('all_nodes_ended' satisfies ReasonCode)).toEqual({ code: 'all_nodes_ended', params: {} });
  expect(reason('canary_failed', { node: 'a' }, ['a'])).toHaveProperty('nodeIds', ['a']);
});
