import { expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

function admitted(bucket: TokenBucket, tries: number, now: number): number {
  return Array.from({ length: tries }, () => bucket.take(now)).filter(Boolean).length;
}

it('admits its burst at once, then its rate', () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 20, now: 0 });
  expect(admitted(bucket, 100, 0)).toBe(20);
  expect(admitted(bucket, 100, 500)).toBe(5);
  expect(admitted(bucket, 100, 60_000)).toBe(20);
});

it('gives nothing for a clock that steps back', () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 1, now: 1000 });
  expect(admitted(bucket, 5, 1000)).toBe(1);
  expect(admitted(bucket, 5, 0)).toBe(0);
  expect(admitted(bucket, 5, 1100)).toBe(1);
});
