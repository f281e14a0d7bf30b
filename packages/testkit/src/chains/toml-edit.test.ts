import { expect, it } from 'vitest';
import { setTomlKey, TomlKeyMissing } from './toml-edit.ts';

const TOML = '# top\nladdr = "a"\n\n[rpc]\nladdr = "b" # old\nladdr_extra = 1\n[p2p]\nladdr = "c"\n';

it('sets the key of one table and nothing else', () => {
  expect(setTomlKey(TOML, 'rpc', 'laddr', 'tcp://x')).toBe(TOML.replace('laddr = "b" # old', 'laddr = "tcp://x"'));
  expect(setTomlKey(TOML, '', 'laddr', true)).toBe(TOML.replace('laddr = "a"', 'laddr = true'));
});

it('refuses a key that is not there', () => {
  expect(() => setTomlKey(TOML, 'p2p', 'ladr', 1)).toThrow(TomlKeyMissing);
});
