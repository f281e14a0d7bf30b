import { describe, expect, test } from 'vitest';
import { checkGroupRules, type GroupRuleInput } from './rollout-rules/group-rules.ts';
import { checkRolloutRules, type RolloutRuleInput } from './rollout-rules.ts';

const HASH = 'a'.repeat(64);
const DIGEST = `sha256:${HASH}`;

const good: RolloutRuleInput = {
  artifactKind: 'file',
  sourceVersion: 'v1',
  targetVersion: 'v2',
  artifacts: [{ field: null, url: 'https://example.org/node', checksum: DIGEST }],
  configChangeCount: 0,
  manifestContentHash: DIGEST,
  migrationType: 'none',
  recoveryPlan: null,
  acknowledgeStateRisk: false,
  activeRolloutId: null,
  strategy: 'rolling',
  order: {},
  batchSize: 2,
  canarySize: null,
  failureThreshold: 0.1,
  maxFailures: null,
  minAttempted: 1,
  maxInFlight: null,
  healthWaitMs: 60_000,
  eligibleNodes: 10,
};
const PINNED = `ghcr.io/x/node@${DIGEST}`;
const file = (checksum: string) => ({ artifacts: [{ field: null, url: 'https://example.org/node', checksum }] });
const image = (url = PINNED, checksum = DIGEST): Partial<RolloutRuleInput> => ({
  artifactKind: 'image',
  artifacts: [{ field: null, url, checksum }],
});
const breaking: Partial<RolloutRuleInput> = {
  migrationType: 'breaking',
  strategy: 'canary',
  canarySize: 1,
  recoveryPlan: 'restore a snapshot',
  acknowledgeStateRisk: true,
};

const broken = (over: Partial<RolloutRuleInput>) =>
  checkRolloutRules({ ...good, ...over }).map(({ rule, code, field }) => `${rule} ${code} ${field}`);

test.each([
  ['a file with a prefixed checksum', {}],
  ['a file with a bare checksum', file(HASH)],
  ['an image pinned by its digest', image()],
  ['a breaking migration with all its guards', breaking],
  ['the version of each node as the source (E5)', { sourceVersion: null }],
  ['a change of configs alone (E6)', { targetVersion: 'v1', configChangeCount: 1 }],
  ['numbers at their edges', { failureThreshold: 1, maxFailures: 0, maxInFlight: 1, healthWaitMs: 0, batchSize: 99 }],
  ['a fleet that is not known yet', { eligibleNodes: null, strategy: 'canary', canarySize: 50, minAttempted: 50 }],
] as [string, Partial<RolloutRuleInput>][])('%s breaks no rule', (_what, over) => {
  expect(broken(over)).toEqual([]);
});

describe('each broken rule by its name', () => {
  test.each([
    ['1 checksum_missing target_binary_checksum', file('  ')],
    ['1 checksum_malformed target_binary_checksum', file('md5:abc')],
    ['1 checksum_malformed target_binary_checksum', file(`sha256:${HASH.slice(1)}`)],
    ['2 image_checksum_unprefixed target_binary_checksum', image(PINNED, HASH)],
    ['3 image_not_pinned target_binary_url', image('ghcr.io/x/node:v2')],
    ['3 image_not_pinned target_binary_url', image('ghcr.io/x/node:v2@sha256:abc')],
    ['3 image_digest_mismatch target_binary_url', image(`x@sha256:${'b'.repeat(64)}`)],
    ['4 same_version target_version', { targetVersion: 'v1' }],
    ['5 active_rollout chain_profile_id', { activeRolloutId: 'r0' }],
    ['6 manifest_hash_missing manifest_content_hash', { manifestContentHash: null }],
    ['6 manifest_hash_malformed manifest_content_hash', { manifestContentHash: HASH }],
    ['7 recovery_plan_missing recovery_plan', { ...breaking, recoveryPlan: ' ' }],
    ['7 canary_required strategy', { ...breaking, strategy: 'rolling' }],
    ['7 state_risk_not_acknowledged acknowledge_state_risk', { ...breaking, acknowledgeStateRisk: false }],
    ['range batch_size_out_of_range batch_size', { batchSize: 0 }],
    ['range batch_size_out_of_range batch_size', { batchSize: 1.5 }],
    ['range max_failures_out_of_range max_failures', { maxFailures: -1 }],
    ['range min_attempted_out_of_range min_attempted', { minAttempted: 0 }],
    ['range max_in_flight_out_of_range max_in_flight', { maxInFlight: 0 }],
    ['range failure_threshold_out_of_range failure_threshold', { failureThreshold: 1.01 }],
    ['range failure_threshold_out_of_range failure_threshold', { failureThreshold: Number.NaN }],
    ['range health_wait_duration_out_of_range health_wait_duration', { healthWaitMs: -1 }],
    ['range canary_size_missing canary_size', { strategy: 'canary' }],
    ['range canary_size_out_of_range canary_size', { strategy: 'canary', canarySize: 0 }],
    ['range canary_size_covers_all canary_size', { strategy: 'canary', canarySize: 10 }],
    ['range min_attempted_never_reached min_attempted', { minAttempted: 11 }],
  ] as [string, Partial<RolloutRuleInput>][])('%s', (violation, over) => {
    expect(broken(over)).toEqual([violation]);
  });
});

test('of several artifacts each is judged, by its own field (field-case 32)', () => {
  const artifacts = [
    { field: 'artifacts.linux/amd64', url: 'https://example.org/node', checksum: DIGEST },
    { field: 'artifacts.linux/arm64', url: 'https://example.org/node', checksum: 'latest' },
  ];
  expect(broken({ artifacts })).toEqual(['1 checksum_malformed artifacts.linux/arm64.checksum']);
  expect(broken({ artifacts, artifactKind: 'image' })).toEqual([
    '2 image_checksum_unprefixed artifacts.linux/arm64.checksum',
    '3 image_not_pinned artifacts.linux/amd64.url',
    '3 image_not_pinned artifacts.linux/arm64.url',
  ]);
});

test('all broken rules are told at once, in their order', () => {
  const all = broken({
    ...file(''),
    targetVersion: 'v1',
    activeRolloutId: 'r0',
    manifestContentHash: null,
    migrationType: 'breaking',
    batchSize: 0,
  });
  expect(all.map((line) => line.split(' ')[0])).toEqual(['1', '4', '5', '6', '7', '7', '7', 'range']);
});

test('limits under which nothing would ever start, or stop, are refused with what to change (field-cases 87, 88)', () => {
  expect(broken({ maxInFlight: 0 })).toEqual(['range max_in_flight_out_of_range max_in_flight']);
  expect(broken({ strategy: 'canary', canarySize: 3, eligibleNodes: 3 })).toEqual([
    'range canary_size_covers_all canary_size',
  ]);
  expect(broken({ minAttempted: 4, eligibleNodes: 3 })).toEqual(['range min_attempted_never_reached min_attempted']);
});

test('every message is a sentence that says what to do or what is wrong', () => {
  for (const { message } of checkRolloutRules({ ...good, ...file(''), batchSize: 0, activeRolloutId: 'r0' })) {
    expect(message).toMatch(/^\S.*\.$/);
  }
});

describe('groups', () => {
  const group: GroupRuleInput = {
    componentOrder: [
      { binaryName: 'geth', componentIndex: 0 },
      { binaryName: 'lighthouse', componentIndex: 1 },
    ],
    desiredVersions: { geth: 'v1.15', lighthouse: 'v7' },
    failurePolicy: 'manual',
  };
  const codes = (over: Partial<GroupRuleInput>) => checkGroupRules({ ...group, ...over }).map((found) => found.code);

  test('a complete group breaks no rule', () => {
    expect(codes({})).toEqual([]);
  });

  test('rule 8: component_index is unique and follows component_order', () => {
    const twice = [
      { binaryName: 'geth', componentIndex: 0 },
      { binaryName: 'lighthouse', componentIndex: 0 },
    ];
    expect(codes({ componentOrder: twice })).toEqual(['component_index_duplicate']);
    expect(codes({ componentOrder: group.componentOrder.toReversed() })).toEqual([
      'component_order_mismatch',
      'component_order_mismatch',
    ]);
  });

  test('rule 9: a policy, a version and a place for every component', () => {
    expect(codes({ failurePolicy: null })).toEqual(['failure_policy_missing']);
    expect(codes({ desiredVersions: {} })).toEqual(['desired_versions_empty']);
    expect(codes({ componentOrder: group.componentOrder.slice(0, 1) })).toEqual(['component_order_incomplete']);
  });
});

describe('an order that can not be (field-case 88)', () => {
  const batch = { selector: { labels: { zone: 'eu' } } };
  const canary = { strategy: 'canary', canarySize: 1 } as const;
  const ramp = { start: 1, factor: 2, max: 50 };
  test.each([
    ['range canary_order_without_canaries canary_node_ids', { order: { canary_node_ids: ['a'] } }],
    ['range canary_order_without_canaries canary_selector', { order: { canary_selector: {} } }],
    [
      'range canaries_given_twice canary_selector',
      { ...canary, order: { canary_node_ids: ['a'], canary_selector: {} } },
    ],
    ['range canary_size_beside_ids canary_size', { ...canary, canarySize: 3, order: { canary_node_ids: ['a'] } }],
    [
      'range canary_size_covers_all canary_node_ids',
      { ...canary, eligibleNodes: 1, order: { canary_node_ids: ['a'] } },
    ],
    ['range batches_without_order batches', { strategy: 'all_at_once', order: { batches: [batch] } }],
    [
      'range batch_size_given_twice batches.1.percent',
      { order: { batches: [batch, { ...batch, count: 1, percent: 2 }] } },
    ],
    ['range batch_named_twice batches.1', { order: { batches: [batch, batch] } }],
    ['range ramp_without_order ramp', { strategy: 'all_at_once', order: { ramp } }],
    ['range ramp_beside_batch_size ramp', { batchSize: 2, order: { ramp } }],
    ['range ramp_out_of_range ramp.start', { order: { ramp: { ...ramp, start: 0 } } }],
    ['range ramp_out_of_range ramp.factor', { order: { ramp: { ...ramp, factor: 1 } } }],
    ['range ramp_out_of_range ramp.max', { order: { ramp: { ...ramp, start: 4, max: 3 } } }],
  ] as [string, Partial<RolloutRuleInput>][])('%s', (told, differs) => {
    expect(broken({ batchSize: 1, ...differs })).toEqual([told]);
  });

  test('every part that goes together does', () => {
    const order = { canary_node_ids: ['a', 'b'], batches: [{ ...batch, percent: 50 }, batch], ramp };
    expect(broken({ ...canary, canarySize: 2, batchSize: 1, order })).toEqual([]);
  });
});
