import { expect, it } from 'vitest';
import { GatheredLooks } from './gathered-looks.ts';

/** A systemd that describes every unit by its name and how often it was asked. */
function systemd(refused: readonly string[] = []) {
  const calls: (readonly string[])[] = [];
  const looks = new GatheredLooks(async (units) => {
    calls.push(units);
    const bad = units.find((unit) => refused.includes(unit));
    if (bad !== undefined) return { code: 1, stdout: '', stderr: `${bad} is not valid` };
    const named = units.flatMap((unit) => (unit === '*.service' ? ['a.service', 'b.service'] : [unit]));
    return { code: 0, stdout: named.map((unit) => `Id=${unit}\nCall=${calls.length}\n`).join('\n'), stderr: '' };
  });
  return { calls, looks };
}

it('asks once about all units that are looked at in the same moment, and gives each its own answer', async () => {
  const { calls, looks } = systemd();
  const units = ['a.service', 'b.service', 'a.service', 'c.service'];
  const answers = await Promise.all(units.map((unit) => looks.of(unit)));
  expect(calls).toEqual([['a.service', 'b.service', 'c.service']]);
  expect(answers.map(({ stdout }) => /Id=(.*)/.exec(stdout)?.[1])).toEqual(units);
});

it('never answers from a call that had begun before the question', async () => {
  const { calls, looks } = systemd();
  const first = looks.of('a.service');
  await Promise.resolve(); // the call is under way now
  const [one, two] = await Promise.all([first, looks.of('a.service')]);
  expect(one.stdout).toContain('Call=1');
  expect(two.stdout).toContain('Call=2');
  expect((await looks.of('a.service')).stdout).toContain('Call=3');
  expect(calls).toHaveLength(3);
});

it('lets a unit that systemd refuses spoil nobody else’s look', async () => {
  const { looks } = systemd(['bad@.service']);
  const [good, bad] = await Promise.all([looks.of('a.service'), looks.of('bad@.service')]);
  expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining('Id=a.service') });
  expect(bad).toEqual({ code: 1, stdout: '', stderr: 'bad@.service is not valid' });
});

it('asks alone when the answers are not one for each unit', async () => {
  const { looks } = systemd();
  const [, own] = await Promise.all([looks.of('*.service'), looks.of('c.service')]);
  expect(own.stdout).toMatch(/^Id=c.service\nCall=\d\n$/);
});

it('fails every look of a call that got no answer, and none after it', async () => {
  const answers = [
    Promise.reject(new Error('systemd does not answer')),
    Promise.resolve({ code: 0, stdout: 'Id=a', stderr: '' }),
  ];
  const looks = new GatheredLooks(() => answers.shift() ?? Promise.reject(new Error('asked too often')));
  const settled = await Promise.allSettled([looks.of('a.service'), looks.of('b.service')]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await looks.of('a.service')).toMatchObject({ code: 0 });
});
