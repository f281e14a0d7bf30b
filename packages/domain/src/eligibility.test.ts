import { describe, expect, test } from 'vitest';
import { judgeEligibility, type NodeEligibilityFacts, type RolloutTargetFacts } from './eligibility.ts';
import { NODE_STATES } from './node-state.ts';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);

const component = { runtimeType: 'systemd', runningDigest: OLD, configHashes: {} };
const node: NodeEligibilityFacts = {
  nodeId: 'n1',
  nodeType: 'full',
  state: 'healthy',
  maintenanceOwner: null,
  joined: true,
  online: true,
  lastHeartbeatAt: 0,
  quarantined: false,
  platform: 'linux/amd64',
  component,
};
const target: RolloutTargetFacts = {
  rolloutId: 'r1',
  nodeType: 'full',
  binaryName: 'geth',
  targetVersion: 'v2',
  now: 1_000,
  runtimeType: 'systemd',
  targetDigests: [NEW],
  platforms: null,
  targetConfigHashes: {},
  offlinePolicy: 'skip',
  retryFailed: false,
};

function judged(ofNode: Partial<NodeEligibilityFacts>, ofTarget: Partial<RolloutTargetFacts> = {}): string {
  const verdict = judgeEligibility({ ...node, ...ofNode }, { ...target, ...ofTarget });
  return verdict.kind === 'eligible' ? 'eligible' : verdict.reason.code;
}

test('a healthy node of the right type that runs something else is eligible', () => {
  expect(judged({})).toBe('eligible');
});

test.each([
  ['node_type_mismatch', { nodeType: 'validator' }, {}],
  ['never_joined', { joined: false, online: false }, {}],
  ['node_quarantined', { quarantined: true }, {}],
  ['binary_missing', { component: null }, {}],
  ['runtime_mismatch', { component: { ...component, runtimeType: 'docker' } }, {}],
  ['no_artifact_for_platform', {}, { platforms: ['linux/arm64'] }],
  ['no_artifact_for_platform', { platform: null }, { platforms: ['linux/amd64'] }],
  ['eligible', {}, { platforms: ['linux/arm64', 'linux/amd64'] }],
  ['agent_offline', { online: false }, {}],
  ['eligible', { online: false }, { offlinePolicy: 'wait' }],
  ['eligible', { nodeType: 'validator' }, { nodeType: null }],
  ['eligible', { component: { ...component, runtimeType: 'docker' } }, { runtimeType: null }],
] as [string, Partial<NodeEligibilityFacts>, Partial<RolloutTargetFacts>][])('%s', (code, ofNode, ofTarget) => {
  expect(judged(ofNode, ofTarget)).toBe(code);
});

test('a pinned component is left out of rollouts to another version until the pin expires', () => {
  const pin = { version: 'v1', actor: 'ann', reason: 'audit', until: null };
  expect(judged({ pin })).toBe('node_pinned');
  expect(judged({ pin: { ...pin, version: 'v2' } })).toBe('eligible');
  expect(judged({ pin: { ...pin, until: 1_001 } })).toBe('node_pinned');
  expect(judged({ pin: { ...pin, until: 1_000 } })).toBe('eligible');
});

test('a node that failed the version is left out, with rollout and time, until a person asks for it again', () => {
  const failedVersion = { rolloutId: 'r0', at: Date.parse('2026-01-01T00:00:00Z') };
  expect(judgeEligibility({ ...node, failedVersion }, target)).toEqual({
    kind: 'skipped',
    reason: {
      code: 'failed_this_version',
      params: { version: 'v2', rollout: 'r0', at: '2026-01-01T00:00:00.000Z' },
    },
  });
  expect(judged({ failedVersion }, { retryFailed: true })).toBe('eligible');
  expect(judged({ failedVersion: null })).toBe('eligible');
});

test('a node that has the version after all is not told of an earlier failure', () => {
  const failedVersion = { rolloutId: 'r0', at: 0 };
  expect(judged({ failedVersion, component: { ...component, runningDigest: NEW } })).toBe('already_at_target');
});

test('only nodes that run, well or badly, can be upgraded', () => {
  const eligible = NODE_STATES.filter((state) => judged({ state }) === 'eligible');
  expect(eligible).toEqual(['syncing', 'healthy', 'degraded', 'down']);
});

test('a node in maintenance is eligible only for the rollout that put it there (field-case 106)', () => {
  expect(judged({ state: 'maintenance', maintenanceOwner: 'r1' })).toBe('eligible');
  expect(judged({ state: 'maintenance', maintenanceOwner: 'r2' })).toBe('node_ineligible');
  expect(judged({ state: 'maintenance' })).toBe('node_ineligible');
});

describe('already at the target (E6)', () => {
  const runs = (runningDigest: string | null, configHashes: Record<string, string> = {}) => ({
    component: { ...component, runningDigest, configHashes },
  });

  test('the running hash says so, with or without its prefix', () => {
    expect(judged(runs(NEW))).toBe('already_at_target');
    expect(judged(runs(`sha256:${NEW.toUpperCase()}`))).toBe('already_at_target');
  });

  test('the member of an archive is known by its own hash (A6)', () => {
    expect(judged(runs('c'.repeat(64)), { targetDigests: [NEW, 'c'.repeat(64)] })).toBe('already_at_target');
  });

  test('the configs must be those of the target too', () => {
    const configs = { targetConfigHashes: { '/etc/a': OLD, '/etc/b': NEW } };
    expect(judged(runs(NEW, { '/etc/a': OLD, '/etc/b': NEW }), configs)).toBe('already_at_target');
    expect(judged(runs(NEW, { '/etc/a': OLD, '/etc/b': OLD }), configs)).toBe('eligible');
    expect(judged(runs(NEW, { '/etc/a': OLD }), configs)).toBe('eligible');
  });

  test('a node of which nothing runs, or nothing is known, is not at the target', () => {
    expect(judged(runs(null))).toBe('eligible');
    expect(judged(runs(NEW), { targetDigests: [] })).toBe('eligible');
  });

  test('it is its own outcome even while the agent is offline (field-case 84)', () => {
    expect(judged({ ...runs(NEW), online: false })).toBe('already_at_target');
  });
});
