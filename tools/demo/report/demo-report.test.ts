import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { expect, it } from 'vitest';
import { makeReport } from './demo-report.ts';
import type { ObservedNode } from './observe-nodes.ts';

const node = (name: string, sha256: string): ObservedNode => ({ name, pid: 1, sha256 });
const row = (node_name: string, status: string, upgrade_phase: string | null) =>
  ({ node_name, status, upgrade_phase }) as RolloutNodeView;

it('puts what was seen in the form that was asked for, and names no version that it does not know', () => {
  const report = makeReport({
    versions: new Map([
      ['aa', 'v1'],
      ['bb', 'v2'],
    ]),
    before: [node('one', 'aa'), node('two', 'aa')],
    after: [node('two', 'ff'), node('one', 'bb')],
    afterBadRelease: [node('one', 'bb'), node('two', 'ff')],
    chain: { firstHeight: 4, lastHeight: 120, longestPauseMs: 3383, fewestUp: 3, longestHaltMs: 0 },
    badRollout: { status: 'paused', status_reason: { code: 'canary_failed' } } as RolloutDetail,
    badNodes: [row('one', 'rolled_back', 'ROLLED_BACK'), row('two', 'pending', null)],
    seconds: { setup: 37.1, rollout: 86, bad_release: 15.6 },
  });
  expect(report).toEqual({
    nodes: [
      { name: 'one', before: { version: 'v1', sha256: 'aa' }, after: { version: 'v2', sha256: 'bb' } },
      { name: 'two', before: { version: 'v1', sha256: 'aa' }, after: { version: 'unknown', sha256: 'ff' } },
    ],
    chain: { first_height: 4, last_height: 120, longest_pause_ms: 3383 },
    bad_release: {
      rollout_status: 'paused',
      reason: 'canary_failed',
      nodes: [
        { name: 'one', status: 'rolled_back', phase: 'ROLLED_BACK', running_sha256: 'bb' },
        { name: 'two', status: 'pending', phase: null, running_sha256: 'ff' },
      ],
    },
    seconds: { setup: 37.1, rollout: 86, bad_release: 15.6 },
  });
});
