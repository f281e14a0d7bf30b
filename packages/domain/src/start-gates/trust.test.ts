import { describe, expect, it } from 'vitest';
import { decideNext } from '../decide-next.ts';
import { told } from '../testing/decision-line.ts';
import { aControl, aRelease, aRow, aSnapshot, ended } from '../testing/snapshot-builder.ts';
import type { TrustFacts } from '../trust/trust-rules.ts';

const HOUR = 3_600_000;
const now = 1_000 * HOUR;
const decide = (trust: TrustFacts, over: Parameters<typeof aSnapshot>[0] = {}) =>
  decideNext(aSnapshot({ nodes: [aRow('a')], trust, ...over }), now);

const YOUNG = aRelease({ minimumAgeMs: 72 * HOUR }, { releasedAt: now - 2 * HOUR });
const FOREIGN = aRelease({ allowedOrigins: ['https://github.com/cosmos'] });
const setAside = (rule: string, ...actors: string[]) =>
  actors.map((actor) => ({ rule, actor, reason: 'a fix', createdAt: 0, expiresAt: now + HOUR }));

describe('trust', () => {
  it('holds the first node until the release is old enough, and the rollout wakes then', () => {
    const decision = decide(YOUNG);
    expect(told(decision)).toBe('wait release_too_young (running)');
    expect(decision).toMatchObject({ until: now + 70 * HOUR, reasons: [{ params: { known: 'released', hours: 72 } }] });
    expect(told(decide({ ...YOUNG, releasedAt: now - 72 * HOUR }))).toBe('run a#1 (running)');
  });

  it('counts from when it was first seen where nobody says when it was released', () => {
    const seen = { ...YOUNG, releasedAt: null, firstSeenAt: now - 71 * HOUR };
    expect(decide(seen)).toMatchObject({ until: now + HOUR, reasons: [{ params: { known: 'first seen' } }] });
    expect(decide({ ...seen, firstSeenAt: null })).toMatchObject({ until: now + 72 * HOUR });
  });

  it('holds artifacts from elsewhere and unsigned ones, and tells everything at once', () => {
    const all = aRelease({ ...YOUNG.rules, ...FOREIGN.rules, minimumAgeMs: HOUR, signatureRequired: true });
    expect(told(decide(all))).toBe('wait signature_demanded origin_not_allowed release_too_young (running)');
    expect(told(decide(aRelease({ signatureRequired: true }, { artifacts: [{ url: 'x', signed: true }] })))).toBe(
      'run a#1 (running)',
    );
  });

  it('age and origin are set aside by two people, a signature by nobody', () => {
    expect(told(decide(YOUNG, { overrides: setAside('trust/cooldown', 'ann') }))).toContain('wait');
    expect(told(decide(YOUNG, { overrides: setAside('trust/cooldown', 'ann', 'bob') }))).toBe('run a#1 (running)');
    expect(told(decide(FOREIGN, { overrides: setAside('trust/origin', 'ann', 'bob') }))).toBe('run a#1 (running)');
    const unsigned = aRelease({ signatureRequired: true });
    expect(told(decide(unsigned, { overrides: setAside('trust/signature', 'ann', 'bob') }))).toContain('wait');
  });

  it('holds what a key had signed that counts no longer, or none, which nobody sets aside; without a manifest there is nothing to sign', () => {
    const rules = { manifestKeys: ['0123456789ABCDEF'] };
    const overrides = setAside('trust/manifest', 'ann', 'bob');
    for (const key of ['FEDCBA9876543210', null]) {
      const decision = decide(aRelease(rules, { manifest: { key } }), { overrides });
      expect(told(decision)).toBe('wait manifest_signer_untrusted (running)');
    }
    expect(told(decide(aRelease(rules, { manifest: { key: '0123456789ABCDEF' } })))).toBe('run a#1 (running)');
    expect(told(decide(aRelease(rules)))).toBe('run a#1 (running)');
    expect(told(decide(aRelease({}, { manifest: { key: null } })))).toBe('run a#1 (running)');
  });

  it('holds the first node until a second person has approved, which nobody sets aside', () => {
    const missing = aRelease({ twoPersons: true }, { approval: { creator: 'key:ann', approvedBy: null } });
    const decision = decide(missing, { overrides: setAside('trust/approval', 'ann', 'bob') });
    expect(decision).toMatchObject({ kind: 'wait', reasons: [{ code: 'start_approval_needed' }] });
    expect(told(decide({ ...missing, approval: { creator: 'key:ann', approvedBy: 'key:bob' } }))).toBe(
      'run a#1 (running)',
    );
    const begun = { nodes: [ended('a', 'succeeded'), aRow('b', { batchIndex: 1 })] };
    expect(told(decide(missing, begun))).toBe('run b#1 (running)');
  });

  it('is asked before the first node alone, and not on the way back', () => {
    const begun = { nodes: [ended('a', 'succeeded'), aRow('b', { batchIndex: 1 })] };
    expect(told(decide(YOUNG, begun))).toBe('run b#1 (running)');
    const back = { nodes: [ended('a', 'succeeded')], controls: [aControl('rollback', 1)] };
    expect(told(decide(FOREIGN, back))).not.toContain('origin_not_allowed');
  });
});
