import { TestAuthority } from '@hoodcloud/controlplane/gateway/testing/certificates';
import { GatewayFixture } from '@hoodcloud/controlplane/gateway/testing/gateway-fixture';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checksumOf } from '../rows.ts';
import { until } from '../until.ts';
import { FleetProcess } from './fleet-process.ts';
import { insertFleet } from './insert-fleet.ts';
import { ALL_GOOD } from './upgrade-script.ts';

const AGENTS = 50;
const ROWS = { chainProfileId: 'testchain', nodeType: 'validator', binaryName: 'cometbft', version: 'v1.0.0' };

let fixture: GatewayFixture;
const authority = new TestAuthority();
beforeAll(async () => {
  fixture = await GatewayFixture.create();
});
afterAll(async () => {
  authority.dispose();
  await fixture.dispose();
});

it(`${AGENTS} agents in a process of their own speak to a real gateway over mTLS, each on its own connection`, async () => {
  const tls = { ...authority.issue('gateway'), clientAuthority: authority.certificate };
  const first = await fixture.gateway({ tls });
  const second = await fixture.gateway({ tls });
  const running = checksumOf('a');
  const identities = await insertFleet(fixture.database.pool, { ...ROWS, nodes: AGENTS, running, namePrefix: 'sim' });
  const fleet = await FleetProcess.start({
    identities,
    gateways: [first.address, second.address],
    tls: { authority: authority.certificate, ...authority.issue('agent') },
    binaryName: ROWS.binaryName,
    running,
    heightMetric: 'height',
    heartbeatMs: 200,
    script: { ...ALL_GOOD, upgradeMs: [0, 200] },
    connectsPerSecond: 100,
  });
  try {
    const allConnected = async () => (await fleet.counts()).connected === AGENTS;
    await until('all to be connected', allConnected);
    expect(first.streamCount() + second.streamCount()).toBe(AGENTS);
    expect(second.streamCount()).toBe(AGENTS / 2);
    await until('heartbeats of all', async () => {
      const { rows } = await fixture.database.pool.query(
        'select count(distinct node_id)::int as n from node_heartbeats',
      );
      return rows[0].n === AGENTS;
    });
    expect((await fleet.takeSamples()).roundTrips.length).toBeGreaterThan(0);

    const target = checksumOf('b');
    const nodeId = identities[0]?.nodeId ?? '';
    const { commandId } = await fixture.command(nodeId, { payload: { artifact: { checksum: target } } });
    await until('the result', async () => (await fixture.commandRow(commandId)).result !== null);
    expect(await fleet.counts()).toMatchObject({ commands: 1, upgrades: 1, doubled: 0 });
    expect((await fleet.running())[nodeId]).toBe(target);

    await second.stop();
    await until('those of the second to come to the first', async () => first.streamCount() === AGENTS);
    await until('all to be welcome there', allConnected);
  } finally {
    await fleet.stop();
  }
});
