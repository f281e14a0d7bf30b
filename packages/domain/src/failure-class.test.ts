import { expect, test } from 'vitest';
import { failureClassOf } from './failure-class.ts';

test.each([
  ['artifact', 'upgrade_untouched', 'checksum_mismatch'],
  ['artifact', 'upgrade_untouched', 'dry_start_failed'],
  ['artifact', 'upgrade_untouched', 'download_refused'],
  ['infrastructure', 'upgrade_untouched', 'download_failed'],
  ['infrastructure', 'upgrade_untouched', 'disk_full'],
  ['infrastructure', 'agent_unreachable', null],
  ['node', 'upgrade_rolled_back', 'start_failed'],
  ['node', 'health_failed', null],
  // the way there does not matter any more
  ['state', 'failed_rollback', 'checksum_mismatch'],
  // nobody knows: as it always counted
  ['node', 'upgrade_rolled_back', 'enoent'],
  ['node', 'upgrade_rolled_back', 'toString'],
  ['node', 'toString', null],
  ['node', null, null],
])('%s: %s with %s', (kind, statusReason, errorCode) => {
  expect(failureClassOf(statusReason, errorCode)).toBe(kind);
});
