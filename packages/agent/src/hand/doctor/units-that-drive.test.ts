import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drives, unitsThatDrive } from './units-that-drive.ts';

const GUIDE_UNIT = `[Service]
ExecStartPre=-/usr/bin/docker rm -f geth
ExecStartPre=/usr/bin/docker pull ethereum/client-go:stable
ExecStart=/usr/bin/docker run \\
  --name geth -v /data:/root ethereum/client-go:stable
ExecStop=/usr/bin/docker stop geth
`;

it.each([
  ['makes it by docker run', GUIDE_UNIT, true],
  ['makes another one', GUIDE_UNIT.replaceAll('geth', 'geth-archive'), false],
  ['only starts what is there', '[Service]\nExecStart=/usr/bin/docker start -a geth\n', false],
  ['brings a Compose project up', '[Service]\nExecStart=docker compose up geth\n', true],
  ['speaks of it in a comment', '[Service]\n# docker run --name geth\nExecStart=/usr/bin/node\n', false],
])('a unit that %s', (_, unit, expected) => {
  expect(drives(unit, 'geth')).toBe(expected);
});

it('finds such units among the operator’s, links that lead nowhere aside', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-units-'));
  try {
    await writeFile(join(folder, 'geth.service'), GUIDE_UNIT);
    await writeFile(join(folder, 'other.service'), '[Service]\nExecStart=/usr/bin/true\n');
    await symlink('/nowhere/gone.service', join(folder, 'gone.service'));
    expect(await unitsThatDrive('geth', folder)).toEqual(['geth.service']);
    expect(await unitsThatDrive('geth', join(folder, 'no-such-folder'))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
