import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { namedBatchText, rampSize } from './batch-order.ts';
import { type BatchPlanInput, planBatches, plannedBatches } from './batch-plan.ts';
import type { ScopedNode } from './policy-scope.ts';

const facts = new Map<string, ScopedNode>(
  ['eu', 'eu', 'eu', 'eu', 'us', 'us', 'us', 'asia'].map((zone, index) => [
    `n${index}`,
    { chainProfileId: 'c', nodeType: 'full', labels: { zone, tier: String(index % 2) } },
  ]),
);
const zone = (value: string) => ({ labels: { zone: value } });

/** Batches as `source: ids`. */
function drawn(input: Partial<BatchPlanInput>): string[] {
  const whole = {
    strategy: 'rolling',
    batchSize: 1,
    canarySize: 1,
    seed: 's',
    nodes: [...facts.keys()],
    facts,
    ...input,
  } as const;
  return plannedBatches(whole).map(({ source, nodeIds }) => {
    const name = source.kind === 'named' ? `batches.${source.position}` : source.kind;
    return `${name}: ${nodeIds.join(' ')}`;
  });
}

describe('named batches', () => {
  test('come in their order, and what none of them names comes last, in batches of batch_size', () => {
    const batches = [{ selector: zone('asia') }, { selector: zone('eu'), count: 3 }];
    expect(drawn({ batchSize: 2, order: { batches } })).toEqual([
      'batches.0: n7',
      'batches.1: n0 n1 n2',
      'rest: n3 n4',
      'rest: n5 n6',
    ]);
  });

  test('percent is of all nodes that fit and rounds up, never down to a batch of nobody (field-case 104)', () => {
    const half = { selector: zone('us'), percent: 50 };
    const batches = [{ selector: zone('asia'), percent: 1 }, half, half];
    expect(drawn({ batchSize: 9, order: { batches } })).toEqual([
      'batches.0: n7',
      'batches.1: n4 n5',
      'batches.2: n6',
      'rest: n0 n1 n2 n3',
    ]);
  });

  test('one that takes nobody is no batch: the indexes have no gap', () => {
    const order = { batches: [{ selector: zone('moon') }, { selector: zone('asia') }] };
    const plan = planBatches({ ...plain, nodes: [...facts.keys()], facts, order });
    expect([...new Set(plan.values())]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(plan.get('n7')).toBe(0);
  });

  test('a selector of several labels takes nodes that have all of them', () => {
    const order = { batches: [{ selector: { labels: { zone: ['eu', 'us'], tier: '1' } } }] };
    expect(drawn({ batchSize: 9, order })[0]).toBe('batches.0: n1 n3 n5');
  });

  test('all_at_once has one batch whatever is named', () => {
    expect(drawn({ strategy: 'all_at_once', order: { batches: [{ selector: zone('eu') }] } })).toHaveLength(1);
  });
});

const plain = { strategy: 'rolling', batchSize: 1, canarySize: 1, seed: 's' } as const;

describe('canaries', () => {
  test('are exactly those that are named', () => {
    const canary_node_ids = ['n6', 'n2', 'gone'];
    const [first] = drawn({ strategy: 'canary', order: { canary_node_ids } });
    expect(first?.split(' ').sort()).toEqual(['canary:', 'n2', 'n6']);
  });

  test('are drawn from nodes that fit the selector, by the seed of the rollout', () => {
    const firsts = Array.from({ length: 50 }, (_, index) => {
      const [first = ''] = drawn({ strategy: 'canary', seed: `r${index}`, order: { canary_selector: zone('us') } });
      return first;
    });
    expect([...new Set(firsts)].sort()).toEqual(['canary: n4', 'canary: n5', 'canary: n6']);
  });

  test('are drawn from all when none of the named ones is left: a canary rollout always has canaries', () => {
    const orders = [{ canary_node_ids: ['gone'] }, { canary_selector: zone('moon') }];
    for (const order of orders) {
      const [first] = drawn({ strategy: 'canary', canarySize: 2, order });
      expect(first?.split(' ')).toHaveLength(3);
    }
  });

  test('are not taken again by a batch that names them', () => {
    const order = { canary_node_ids: ['n0'], batches: [{ selector: zone('eu') }] };
    const plan = drawn({ strategy: 'canary', batchSize: 9, order });
    expect(plan[0]).toBe('canary: n0');
    expect(plan[1]?.split(' ').sort()).toEqual(['batches.0:', 'n1', 'n2', 'n3']);
  });
});

describe('a ramp', () => {
  test.each([
    [{ start: 1, factor: 2, max: 50 }, [1, 2, 4, 8, 16, 32, 50, 50]],
    [{ start: 3, factor: 1.5 }, [3, 5, 7, 11, 16, 23, 35, 52]],
    [{ start: 2, factor: 10, max: 2 }, [2, 2, 2, 2, 2, 2, 2, 2]],
  ])('%j grows as %j', (ramp, sizes) => {
    expect(sizes.map((_, position) => rampSize(ramp, position))).toEqual(sizes);
  });

  test('is of what no batch names: it begins at its start after the canaries and the named batches', () => {
    const order = { batches: [{ selector: zone('us') }], ramp: { start: 1, factor: 2, max: 50 } };
    expect(drawn({ order })).toEqual(['batches.0: n4 n5 n6', 'rest: n0', 'rest: n1 n2', 'rest: n3 n7']);
  });
});

test('whatever the order says, each node is in exactly one batch and no index is left out', () => {
  const selector = fc.constantFrom(zone('eu'), zone('us'), zone('moon'), {}, { labels: { tier: '1' } });
  const batch = fc.record(
    { selector, count: fc.integer({ min: 1, max: 5 }), percent: fc.integer({ min: 1, max: 100 }) },
    { requiredKeys: ['selector'] },
  );
  const ramp = fc.record({ start: fc.integer({ min: 1, max: 3 }), factor: fc.constantFrom(1.1, 2, 3) });
  const order = fc.record(
    {
      canary_node_ids: fc.subarray([...facts.keys()], { minLength: 1 }),
      canary_selector: selector,
      batches: fc.array(batch, { minLength: 1, maxLength: 4 }),
      ramp,
    },
    { requiredKeys: [] },
  );
  const strategy = fc.constantFrom('rolling' as const, 'canary' as const, 'all_at_once' as const);
  fc.assert(
    fc.property(order, strategy, fc.subarray([...facts.keys()]), (given, name, nodes) => {
      const input = { ...plain, strategy: name, facts, nodes, order: given };
      const plan = planBatches(input);
      expect([...plan.keys()].sort()).toEqual([...nodes].sort());
      const indexes = [...new Set(plan.values())].sort((one, other) => one - other);
      expect(indexes).toEqual(indexes.map((_, position) => position));
      expect(planBatches({ ...input, nodes: [...nodes].reverse() })).toEqual(plan);
      if (name === 'canary' && nodes.length > 0) expect(plannedBatches(input)[0]?.source.kind).toBe('canary');
    }),
  );
});

test('a batch is told in a few words', () => {
  expect(namedBatchText({ selector: { labels: { zone: ['eu', 'us'] } }, percent: 50 })).toBe('zone=eu|us, 50 %');
  expect(namedBatchText({ selector: {}, count: 2 })).toBe('every node, at most 2');
});
