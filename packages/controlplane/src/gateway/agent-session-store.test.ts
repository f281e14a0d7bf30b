import { expect, it } from 'vitest';
import { alternates } from './agent-session-store.ts';

it.each([
  ['', 'a', false],
  ['a', 'a', false],
  ['a', 'b', false],
  ['ba', 'c', false],
  ['ba', 'a', true],
  ['ba', 'b', false],
  ['cba', 'a', true],
  ['bbaa', 'a', true],
  ['aaab', 'a', false],
])('after sessions of %s (newest first) a new one of %s betrays a clone: %s', (earlier, nonce, expected) => {
  expect(alternates([...earlier], nonce)).toBe(expected);
});
