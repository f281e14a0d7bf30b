import { expect, it } from 'vitest';
import { type CallSite, everyHarm, nameOfHarm, shareOf } from './injection.ts';

const SITES: readonly CallSite[] = ['a', 'b', 'c'].map((name) => ({
  kind: 'rename',
  call: 'rename',
  path: `/etc/${name}`,
  nth: 1,
}));
const namesOf = (share: string) => shareOf(everyHarm(SITES), share).map(nameOfHarm);

it('spreads the harms over shares, which together are everything once', () => {
  const all = everyHarm(SITES).map(nameOfHarm);
  const shares = ['1/4', '2/4', '3/4', '4/4'].map(namesOf);
  expect(shares.flat().sort()).toEqual(all.toSorted());
  expect(shares[0]).toEqual(['rename 1 of /etc/a: SIGKILL', 'rename 1 of /etc/b: EROFS', 'rename 1 of /etc/c: EIO']);
  expect(namesOf('1/1')).toEqual(all);
});

it('refuses a share that is none', () => {
  for (const share of ['', '0/4', '5/4', 'half']) expect(() => namesOf(share)).toThrow('a share is such as 2/5');
});
