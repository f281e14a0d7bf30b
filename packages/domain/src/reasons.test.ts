import { expect, test } from 'vitest';
import { REASONS, type ReasonCode, reason, sentenceOf } from './reasons.ts';

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
    '3 nodes failed, more than the 2 that are allowed.',
  );
  expect(sentenceOf(reason('max_failures_exceeded', { failed: 3 }))).toContain('the ? that');
});

test('nodes are named only when they are given', () => {
  expect(reason('all_nodes_ended' satisfies ReasonCode)).toEqual({ code: 'all_nodes_ended', params: {} });
  expect(reason('canary_failed', { node: 'a' }, ['a'])).toHaveProperty('nodeIds', ['a']);
});
