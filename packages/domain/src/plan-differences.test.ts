import { describe, expect, it } from 'vitest';
import { type PlanFacts, type PlanNodeFacts, planDifferences } from './plan-differences.ts';

const NODE: PlanNodeFacts = {
  name: 'val-1',
  version: 'v1',
  running: 'sha256:aa',
  leftOut: null,
  configs: { '/etc/c.toml': { planned: 'sha256:01', now: 'sha256:00' } },
};
const SAVED: PlanFacts = {
  upgrade: { manifest_content_hash: 'sha256:11', health_wait_ms: 60_000 },
  nodes: { a: NODE },
};

const withNode = (differs: Partial<PlanNodeFacts>): PlanFacts => ({ ...SAVED, nodes: { a: { ...NODE, ...differs } } });

describe('what changed since a plan was saved', () => {
  it('is nothing while everything is as it was', () => {
    expect(planDifferences(SAVED, structuredClone(SAVED))).toEqual([]);
  });

  const offline = { code: 'offline', sentence: 'The node is offline.' };
  it.each<[string, PlanFacts, string]>([
    [
      'the manifest',
      { ...SAVED, upgrade: { ...SAVED.upgrade, manifest_content_hash: 'sha256:22' } },
      'manifest_content_hash was sha256:11 and is sha256:22 now.',
    ],
    ['a version', withNode({ version: 'v2' }), 'val-1 had v1 and has v2 now.'],
    [
      'a program without a new name',
      withNode({ running: 'sha256:bb' }),
      'val-1 runs another program than then (sha256:aa, now sha256:bb).',
    ],
    [
      'an eligibility',
      withNode({ leftOut: offline }),
      'val-1 was to be upgraded and would be left out now: The node is offline.',
    ],
    [
      'what would be written',
      withNode({ configs: { '/etc/c.toml': { planned: 'sha256:02', now: 'sha256:00' } } }),
      '/etc/c.toml would be written otherwise on val-1.',
    ],
    [
      'what stands on the host',
      withNode({ configs: { '/etc/c.toml': { planned: 'sha256:01', now: 'sha256:03' } } }),
      '/etc/c.toml was changed on val-1 since.',
    ],
    [
      'a new node',
      { ...SAVED, nodes: { a: NODE, b: { ...NODE, name: 'val-2' } } },
      'val-2 has come since and is not in the plan.',
    ],
    ['a node that left', { ...SAVED, nodes: {} }, 'val-1 is gone, or not of this chain and type any more.'],
  ])('is told of %s in a sentence', (_, now, sentence) => {
    expect(planDifferences(SAVED, now).map(({ message }) => message)).toEqual([sentence]);
  });

  it('names a node that can be upgraded now, and one that is left out for another reason', () => {
    const saved = withNode({ leftOut: offline });
    expect(planDifferences(saved, SAVED)[0]?.message).toBe(
      'val-1 was left out (The node is offline.) and could be upgraded now.',
    );
    const other = withNode({ leftOut: { code: 'node_quarantined', sentence: 'It is quarantined.' } });
    expect(planDifferences(saved, other)[0]?.message).toBe('val-1 is left out for another reason: It is quarantined.');
    const later = withNode({ leftOut: { code: 'offline', sentence: 'The node is offline since 9:00.' } });
    expect(planDifferences(saved, later)).toEqual([]);
  });
});
