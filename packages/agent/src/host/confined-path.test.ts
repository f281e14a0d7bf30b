import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { confinePath } from './confined-path.ts';

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-confined-'));
  root = join(folder, 'etc');
  await mkdir(join(root, 'deep'), { recursive: true });
  await mkdir(join(folder, 'etc-other'));
  await mkdir(join(folder, 'outside'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const refused = { code: 'path_refused' };

it.each(['config.toml', 'deep/app.toml'])(
  '%s inside a root is taken, also when it does not exist yet',
  async (name) => {
    expect(await confinePath(join(root, name), [root])).toBe(join(root, name));
  },
);

it('a link inside the roots is taken as what it leads to', async () => {
  await writeFile(join(root, 'deep/real.toml'), '');
  await symlink(join(root, 'deep/real.toml'), join(root, 'link.toml'));
  expect(await confinePath(join(root, 'link.toml'), [root])).toBe(join(root, 'deep/real.toml'));
});

describe('is refused before anything is touched (A9):', () => {
  it.each([
    ['a relative path', () => 'config.toml'],
    ['a path with ..', () => `${root}/deep/../../outside/x`],
    ['a path with .', () => `${root}/./x`],
    ['a path that names a folder', () => `${root}/deep/`],
    ['a path elsewhere', () => join(folder, 'outside/x')],
    ['a folder whose name only begins like a root', () => join(folder, 'etc-other/x')],
    ['a folder that does not exist', () => join(root, 'no/such/x')],
  ])('%s', async (_, path) => {
    await expect(confinePath(path(), [root])).rejects.toMatchObject(refused);
  });

  it('a link to a file outside', async () => {
    await writeFile(join(folder, 'outside/x'), '');
    await symlink(join(folder, 'outside/x'), join(root, 'x'));
    await expect(confinePath(join(root, 'x'), [root])).rejects.toMatchObject(refused);
  });

  it('a folder that is a link leading outside', async () => {
    await symlink(join(folder, 'outside'), join(root, 'out'));
    await expect(confinePath(join(root, 'out/x'), [root])).rejects.toMatchObject(refused);
  });

  it.each([
    'priv_validator_state.json',
    'priv_validator_key.json',
    'node_key.json',
    'slashing-protection.db',
    'slashing_protection.sqlite',
    'keystore/UTC--2020.json',
    'keyring-file/x',
    'validator_keys/deposit.json',
    'tls.key',
  ])('%s, inside the roots too: an old signing state double-signs', async (name) => {
    await expect(confinePath(join(root, name), [root])).rejects.toMatchObject(refused);
  });

  it('a link with an innocent name that leads to a signing state', async () => {
    await writeFile(join(root, 'priv_validator_state.json'), '{}');
    await symlink(join(root, 'priv_validator_state.json'), join(root, 'config.toml'));
    await expect(confinePath(join(root, 'config.toml'), [root])).rejects.toMatchObject(refused);
  });
});
