import { credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from './gateway.ts';
import { type Identity, TestAuthority } from './testing/certificates.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { WireAgent } from './testing/wire-agent.ts';

let fixture: GatewayFixture;
const authority = new TestAuthority();
const stranger = new TestAuthority();
beforeAll(async () => {
  fixture = await GatewayFixture.create();
});
afterAll(async () => {
  authority.dispose();
  stranger.dispose();
  await fixture.dispose();
});

/** An agent that trusts the authority, with a certificate of its own or none. */
async function dial(gateway: Gateway, identity: Identity | null, trusted = authority): Promise<WireAgent> {
  const { credential } = await fixture.joinedNode();
  const channel = credentials.createSsl(
    Buffer.from(trusted.certificate),
    identity && Buffer.from(identity.key),
    identity && Buffer.from(identity.certificate),
  );
  const agent = WireAgent.dial(gateway.address, credential, channel);
  agent.hello();
  return agent;
}

describe('TLS (B3)', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await fixture.gateway({ tls: { ...authority.issue('gateway'), clientAuthority: null } });
  });

  it('lets in an agent that trusts the certificate', async () => {
    const agent = await dial(gateway, null);
    expect((await agent.welcome()).sessionId).not.toBe('');
    agent.close();
  });

  it('is refused by an agent that trusts another authority', async () => {
    const agent = await dial(gateway, null, stranger);
    expect((await agent.ended()).code).toBe(status.UNAVAILABLE);
  });

  it('takes no plain text', async () => {
    const { credential } = await fixture.joinedNode();
    const agent = WireAgent.dial(gateway.address, credential);
    agent.hello();
    expect((await agent.ended()).code).toBe(status.UNAVAILABLE);
  });
});

describe('mTLS (B3)', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await fixture.gateway({
      tls: { ...authority.issue('gateway'), clientAuthority: authority.certificate },
    });
  });

  it('lets in an agent with a certificate of the authority', async () => {
    const agent = await dial(gateway, authority.issue('agent'));
    expect((await agent.welcome()).sessionId).not.toBe('');
    agent.close();
  });

  it.each([
    ['without a certificate', () => null],
    ["with another authority's", () => stranger.issue('agent')],
  ])('refuses an agent %s', async (_, identity) => {
    const agent = await dial(gateway, identity());
    expect((await agent.ended()).code).toBe(status.UNAVAILABLE);
    expect(agent.heard).toEqual([]);
  });
});

it('a key that does not fit is refused when the gateway starts', async () => {
  const tls = { key: authority.issue('a').key, certificate: authority.issue('b').certificate, clientAuthority: null };
  await expect(fixture.gateway({ tls })).rejects.toThrow(/key/);
});
