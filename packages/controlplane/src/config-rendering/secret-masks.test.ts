import { describe, expect, it } from 'vitest';
import { isSecretVariable, maskLiterals } from './secret-masks.ts';

describe('secrets in a config file', () => {
  it.each([
    ['rpc_password = "hunter2"', 'rpc_password = <secret>'],
    ['  "apiToken": "hunter2",', '  "apiToken": <secret>,'],
    ['ENGINE_JWT_SECRET=hunter2', 'ENGINE_JWT_SECRET=<secret>'],
    ["private-key: 'hunter2'", 'private-key: <secret>'],
    ['ExecStart=/bin/noded --rpc.password=hunter2 --peers 4', 'ExecStart=/bin/noded --rpc.password=<secret> --peers 4'],
    ['ExecStart=/bin/noded --wallet-passphrase hunter2', 'ExecStart=/bin/noded --wallet-passphrase <secret>'],
    ['psql-conn = "postgres://indexer:hunter2@db/chain"', 'psql-conn = "postgres://indexer:<secret>@db/chain"'],
  ])('%s is shown as %s', (line, shown) => {
    expect(maskLiterals(line, null).text).toBe(shown);
  });

  it('leave what is none as it is', () => {
    const text = 'max_peers = 10\npassword = ""\nuse_token = true\nmoniker = "secretive"\nurl = "http://db:8080/a"\n';
    expect(maskLiterals(text, null).text).toBe(text);
  });

  it('are masked as a block where a private key stands', () => {
    const text = 'a\n-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----\nb';
    expect(maskLiterals(text, null).text).not.toContain('hunter2');
  });

  it('are told as new when they are others than before', () => {
    const before = maskLiterals('password = "one"\n', null);
    expect(maskLiterals('password = "one"\n', before.values).text).toBe('password = <secret>\n');
    expect(maskLiterals('password = "two"\n', before.values).text).toBe('password = <secret, new value>\n');
  });

  it('are the variables that the chain names, and those whose names say so', () => {
    expect(['seed_words', 'db_password', 'max_peers'].map((name) => isSecretVariable(name, ['seed_words']))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
