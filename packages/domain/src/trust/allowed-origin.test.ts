import { describe, expect, it, test } from 'vitest';
import { isAllowedOrigin, parseAllowedOrigin } from './allowed-origin.ts';

const GITHUB = ['https://github.com/cosmos/gaia'];

describe('origins of files', () => {
  test.for([
    'https://github.com/cosmos/gaia/releases/download/v9/gaiad-linux-amd64',
    'https://GITHUB.com:443/cosmos/gaia/x?y=1',
    'https://github.com/cosmos/gaia/releases/download/protocol%2Fv2/x',
    'https://github.com/cosmos/other/../gaia/x',
  ])('allows %s', (address) => expect(isAllowedOrigin(address, 'file', GITHUB)).toBe(true));

  test.for([
    'https://github.com.evil.test/cosmos/gaia/x',
    'https://github.com@evil.test/cosmos/gaia/x',
    'https://user:word@github.com/cosmos/gaia/x',
    'https://evil.test/https://github.com/cosmos/gaia/x',
    'https://evil.test/?x=https://github.com/cosmos/gaia/x',
    'http://github.com/cosmos/gaia/x',
    'https://github.com:8443/cosmos/gaia/x',
    'https://github.com./cosmos/gaia/x',
    'https://github.com/cosmos-evil/gaia/x',
    'https://github.com/cosmos/gaia-evil/x',
    'https://github.com/cosmos/gaiaevil',
    'https://github.com/cosmos/x',
    'https://github.com//cosmos/gaia/x',
    'https://github.com/cosmos/gaia/../../evil/x',
    'https://github.com/cosmos/gaia/%2e%2e/%2e%2e/evil/x',
    'https://github.com/cosmos/gaia/..%2f..%2fevil/x',
    'https://github.com/cosmos/gaia/%252e%252e%252fevil/x',
    'https://github.com/cosmos/gaia/%25252525252e/x',
    'https://github.com/cosmos\\gaia\\..\\..\\evil',
    'https://github.com%2Fcosmos/gaia/x',
    'ftp://github.com/cosmos/gaia/x',
    'github.com/cosmos/gaia/x',
    'no address',
    '',
  ])('refuses %s', (address) => expect(isAllowedOrigin(address, 'file', GITHUB)).toBe(false));

  it('a server alone allows whatever is on it, without a scheme by https only', () => {
    for (const origin of ['https://github.com', 'https://github.com/', 'github.com']) {
      expect(isAllowedOrigin('https://github.com/any/thing', 'file', [origin])).toBe(true);
      expect(isAllowedOrigin('http://github.com/any/thing', 'file', [origin])).toBe(false);
    }
    expect(isAllowedOrigin('http://mirror.test:8080/x', 'file', ['http://mirror.test:8080'])).toBe(true);
  });
});

describe('origins of images', () => {
  const DIGEST = `@sha256:${'ab'.repeat(32)}`;

  it('compares registry and whole parts of the name', () => {
    const origins = ['ghcr.io/sigp'];
    expect(isAllowedOrigin(`ghcr.io/sigp/lighthouse${DIGEST}`, 'image', origins)).toBe(true);
    expect(isAllowedOrigin(`ghcr.io/sigp/lighthouse:v8${DIGEST}`, 'image', origins)).toBe(true);
    expect(isAllowedOrigin(`ghcr.io/sigp-evil/lighthouse${DIGEST}`, 'image', origins)).toBe(false);
    expect(isAllowedOrigin(`ghcr.io.evil.test/sigp/lighthouse${DIGEST}`, 'image', origins)).toBe(false);
    expect(isAllowedOrigin(`sigp/lighthouse${DIGEST}`, 'image', origins)).toBe(false);
    expect(isAllowedOrigin(`ghcr.io/sigp/../evil${DIGEST}`, 'image', origins)).toBe(false);
  });

  it('reads names without a registry as Docker does', () => {
    expect(isAllowedOrigin(`sigp/lighthouse${DIGEST}`, 'image', ['docker.io/sigp'])).toBe(true);
    expect(isAllowedOrigin(`nginx${DIGEST}`, 'image', ['docker.io/library'])).toBe(true);
    expect(isAllowedOrigin(`localhost/sigp/x${DIGEST}`, 'image', ['docker.io/localhost'])).toBe(false);
  });

  it('a web address allows files, no images', () => {
    expect(isAllowedOrigin(`ghcr.io/sigp/x${DIGEST}`, 'image', ['https://ghcr.io/sigp'])).toBe(false);
  });
});

test.for([
  '',
  'https://',
  '*.github.com',
  'https://github.com/x?y',
  'https://a@github.com',
  'ftp://a.test',
  '/etc',
  'two words',
])('an entry "%s" is refused when the chain is read', (entry) => expect(parseAllowedOrigin(entry)).toBeNull());
