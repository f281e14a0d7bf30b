import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packageOf } from './package-owner.ts';

it('names the package that a file belongs to, on a host that has packages', async () => {
  expect(await packageOf('/usr/bin/sleep')).toBe(existsSync('/usr/bin/dpkg-query') ? 'coreutils' : null);
  expect(await packageOf('/nowhere/node')).toBeNull();
});
