import { MAX_CONFIG_BYTES } from '@hoodcloud/contracts/wire/message-limits';
import { expect, it } from 'vitest';
import { LargestConfigs } from './config-size.ts';

const config = (path: string, bytes: number) => ({ path, content: new Uint8Array(bytes), checksum: '' });

async function problemsOf(nodes: Readonly<Record<string, ReturnType<typeof config>[]>>, changes = 1) {
  const largest = new LargestConfigs();
  const render = largest.watching(async () => new Map(Object.entries(nodes)));
  const rollout = { id: '', chain_profile_id: '', binary_name: '', target_version: '', config_changes: [] };
  expect([...(await render(rollout, Object.keys(nodes))).keys()]).toEqual(Object.keys(nodes));
  return largest.problems(changes).map(({ field, code, message }) => [field, code, message]);
}

it('takes what a command can carry', async () => {
  expect(await problemsOf({})).toEqual([]);
  expect(await problemsOf({ a: [config('/etc/a', MAX_CONFIG_BYTES - 10), config('/etc/b', 10)] })).toEqual([]);
});

it('names the file that is too large, on whichever node it is', async () => {
  const large = [config('/etc/a', 10), config('/etc/b', MAX_CONFIG_BYTES + 1)];
  expect(await problemsOf({ small: [config('/etc/a', 10)], large })).toEqual([
    ['config_changes.1', 'too_large', expect.stringContaining('/etc/b has 3.9 MB when it is rendered')],
  ]);
});

it('counts the files of a node together', async () => {
  const half = Math.ceil(MAX_CONFIG_BYTES / 2);
  expect(await problemsOf({ a: [config('/etc/a', half), config('/etc/b', half + 1)] })).toEqual([
    ['config_changes', 'too_large', expect.stringContaining('change them in several upgrades')],
  ]);
});

it('refuses more files than an agent takes', async () => {
  expect(await problemsOf({}, 65)).toEqual([['config_changes', 'too_many', expect.stringContaining('65')]]);
});
