import { expect, it } from 'vitest';
import { storableJson, storableText } from './storable-json.ts';

it('replaces NUL, which Postgres refuses, and nothing else', () => {
  const value = { log: ['a\0b', 'the text \\u0000 stays'], deep: { note: '\0' } };
  expect(JSON.parse(storableJson(value))).toEqual({
    log: ['a\uFFFDb', 'the text \\u0000 stays'],
    deep: { note: '\uFFFD' },
  });
});

it('cuts text to its column', () => {
  expect(storableText('abcdef', 3)).toBe('abc');
  expect(storableText('ab\0', 10)).toBe('ab\uFFFD');
});
