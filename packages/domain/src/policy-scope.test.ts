import { expect, test } from 'vitest';
import { covers } from './policy-scope.ts';

const node = { chainProfileId: 'gaia', nodeType: 'validator', labels: { zone: 'a', customer: 'x' } };

test.each([
  [{}, true],
  [{ chains: ['gaia', 'osmosis'] }, true],
  [{ chains: ['osmosis'] }, false],
  [{ chains: [] }, false],
  [{ node_types: ['full'] }, false],
  [{ labels: { zone: 'a' } }, true],
  [{ labels: { zone: ['b', 'a'], customer: 'x' } }, true],
  [{ labels: { zone: 'a', customer: 'y' } }, false],
  [{ labels: { rack: 'r1' } }, false],
  [{ chains: ['gaia'], node_types: ['validator'], labels: { zone: 'a' } }, true],
])('scope %j covers the node: %s', (scope, expected) => {
  expect(covers(scope, node)).toBe(expected);
});
