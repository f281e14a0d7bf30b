import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Gateway } from './gateway.ts';
import { type Identity, TestAuthority } from './testing/certificates.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { WireAgent } from './testing/wire-agent.ts';
import { readTlsFiles, watchTlsFiles } from './tls-files.ts';

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

describe('certificates rotate without a restart (B3)', () => {
  it('streams that are open stay, new connections see the new authority only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-rotation-'));
    const files = { key: join(folder, 'key'), certificate: join(folder, 'certificate'), clientAuthority: null };
    const write = (identity: Identity) => {
      writeFileSync(files.key, identity.key);
      writeFileSync(files.certificate, identity.certificate);
    };
    write(authority.issue('before'));
    const first = await readTlsFiles(files);
    const gateway = await fixture.gateway({ tls: first });
    const logged: object[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => void logged.push(fields) };
    const stop = watchTlsFiles(files, first, { log, everyMs: 20, changed: (tls) => gateway.replaceTls(tls) });
    const before = await dial(gateway, null);
    await before.welcome();

    writeFileSync(files.key, stranger.issue('half').key);
    await vi.waitFor(() => expect(logged).not.toEqual([]), 30_000); // half written: the old pair serves on
    const meanwhile = await dial(gateway, null);
    await meanwhile.welcome();

    write(stranger.issue('after'));
    await vi.waitFor(async () => {
      const agent = await dial(gateway, null, stranger);
      expect((await Promise.race([agent.welcome(), agent.ended()])) as object).toHaveProperty('sessionId');
      agent.close();
    }, 60_000);
    const late = await dial(gateway, null, authority);
    expect((await late.ended()).code).toBe(status.UNAVAILABLE);
    expect(gateway.streamCount()).toBeGreaterThanOrEqual(2);
    before.close();
    meanwhile.close();
    stop();
    rmSync(folder, { recursive: true });
  });
});

it('a key that does not fit is refused when the gateway starts', async () => {
  const tls = { key: authority.issue('a').key, certificate: authority.issue('b').certificate, clientAuthority: null };
  await expect(fixture.gateway({ tls })).rejects.toThrow(/key/);
});
