import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { GoAway_Reason } from '@hoodcloud/contracts/wire/agent-v1';
import { until } from '@hoodcloud/testkit/until';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { WireAgent } from './testing/wire-agent.ts';

/** The way of one agent to its gateway. Frozen, it is a host that hears and says nothing and whose kernel still holds the line. */
class FrozenWay {
  readonly #server: Server;
  readonly #ends: Socket[] = [];

  private constructor(gatewayAddress: string) {
    this.#server = createServer((agent) => {
      const gateway = connect(Number(gatewayAddress.split(':')[1]), '127.0.0.1');
      gateway.pipe(agent).pipe(gateway);
      gateway.on('error', () => agent.destroy()); // cut by the gateway: so is the agent's end
      this.#ends.push(gateway, agent);
    });
  }

  static async to(gatewayAddress: string): Promise<FrozenWay> {
    const way = new FrozenWay(gatewayAddress);
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    return way;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  freeze(): void {
    for (const end of this.#ends) end.unpipe().pause();
  }

  thaw(): void {
    const [gateway, agent] = this.#ends;
    if (gateway && agent) gateway.pipe(agent).pipe(gateway);
  }

  close(): void {
    for (const end of this.#ends) end.destroy();
    this.#server.close();
  }
}

let fixture: GatewayFixture;
let way: FrozenWay;
beforeEach(async () => {
  fixture = await GatewayFixture.create();
});
afterEach(async () => {
  way.close();
  await fixture.dispose();
});

it('a gateway stops though the host of an agent is frozen, which reads when it thaws that it shall come back (B6)', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const gateway = await fixture.gateway();
  way = await FrozenWay.to(gateway.address);
  const agent = await WireAgent.connect(way.address, credential);
  way.freeze();
  let stopped = false;
  const stopping = gateway.stop().then(() => {
    stopped = true;
  });
  await until('the gateway to have stopped', async () => stopped, 60_000);
  await stopping;
  const sessions = fixture.db.selectFrom('agent_sessions').select('end_reason').where('node_id', '=', nodeId);
  expect(await sessions.execute()).toEqual([{ end_reason: 'gateway_stopped' }]);
  way.thaw();
  expect((await agent.goAway()).reason).toBe(GoAway_Reason.SHUTTING_DOWN);
  agent.close();
});
