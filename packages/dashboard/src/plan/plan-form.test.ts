import { describe, expect, it } from 'vitest';
import { EMPTY_FORM, fieldProblems, formProblems, requestOf } from './plan-form.ts';

const MANIFEST = {
  upgrade_id: 'v2',
  chain_profile_id: 'demo',
  file: 'upgrades/demo/v2.yaml',
  content_hash: 'sha256:aa',
  signature: 'not_required' as const,
  problems: [],
  upgrade: {
    node_type: 'validator',
    binary_name: 'noded',
    target_version: 'v2',
    migration_type: 'none' as const,
    notes: null,
    recovery_plan: null,
    artifacts: {},
    config_paths: [],
    drift: 'fail' as const,
  },
};
const FORM = { ...EMPTY_FORM, chain: 'demo', upgrade: 'v2' };

describe('the form of a rollout', () => {
  it('asks for a chain first, then for an upgrade', () => {
    expect(formProblems(EMPTY_FORM)).toEqual({ chain_profile_id: 'Choose a chain.' });
    expect(formProblems({ ...EMPTY_FORM, chain: 'demo' })).toEqual({ upgrade_id: 'Choose an upgrade.' });
    expect(formProblems(FORM)).toEqual({});
  });

  it.each([
    ['batch_size', { batchSize: '0' }],
    ['batch_size', { batchSize: '1.5' }],
    ['batch_size', { batchSize: '' }],
    ['canary_size', { strategy: 'canary' as const, canarySize: 'two' }],
    ['failure_threshold', { threshold: '101' }],
    ['max_in_flight', { maxInFlight: '-1' }],
    ['health_wait_ms', { healthWait: 'soon' }],
  ])('names %s when it is no number that fits: %o', (field, typed) => {
    expect(Object.keys(formProblems({ ...FORM, ...typed }))).toEqual([field]);
  });

  it('asks for no size of batches where all go at once', () => {
    const form = { ...FORM, strategy: 'all_at_once' as const, batchSize: '' };
    expect(formProblems(form)).toEqual({});
    expect(requestOf(form, MANIFEST)).not.toHaveProperty('batch_size');
  });

  it('sends the time that nothing starts before in UTC, and none when none was chosen', () => {
    const startAt = '2026-12-05T22:00';
    expect(requestOf({ ...FORM, startAt }, MANIFEST).start_at).toBe(new Date(startAt).toISOString());
    expect(requestOf(FORM, MANIFEST)).not.toHaveProperty('start_at');
  });

  it('sends shares as shares and seconds as milliseconds, and leaves to the chain what was left empty', () => {
    expect(requestOf({ ...FORM, threshold: '12.5', healthWait: '90' }, MANIFEST)).toMatchObject({
      chain_profile_id: 'demo',
      node_type: 'validator',
      upgrade_id: 'v2',
      failure_threshold: 0.125,
      health_wait_ms: 90_000,
    });
    expect(requestOf(FORM, MANIFEST)).not.toHaveProperty('health_wait_ms');
    expect(requestOf(FORM, MANIFEST)).not.toHaveProperty('drift_policy');
  });

  it('shows what the server found at its field, and what has none beside the form', () => {
    const errors = [
      { field: 'body.request.batch_size', code: 'too_small', message: 'is too small' },
      { field: 'strategy', code: 'rule', message: 'A breaking migration needs canaries.' },
      { field: 'node_ids.0', code: 'unknown_node', message: 'There is no such node.' },
    ];
    expect(fieldProblems(errors)).toEqual({
      fields: { batch_size: 'is too small', strategy: 'A breaking migration needs canaries.' },
      rest: ['There is no such node.'],
    });
  });
});
