import { Client, credentials } from '@grpc/grpc-js';
import { GoAway_Reason } from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { GatewayClient } from './gateway-client.ts';
import { TestGateway } from './testing/test-gateway.ts';

/** Nobody may listen on the ports below 1024 of a machine that runs tests. */
const NOBODY = '127.0.0.1:1';

it('a gateway that refuses while the hello is still being made is tried again, and the agent lives', async () => {
  const ending = new AbortController();
  const reasons: string[] = [];
  const log = pino({ hooks: { logMethod: ([fields]) => void reasons.push((fields as { reason: string }).reason) } });
  let channel: Client | undefined;
  const client = new GatewayClient({
    openChannel: async () => {
      channel = new Client(NOBODY, credentials.createInsecure());
      return channel;
    },
    credential: 'secret',
    log,
    random: () => 0,
    listener: {
      hello: async () => {
        // long enough for the refusal to arrive: the channel's own word for it
        await new Promise((refused) => channel?.waitForReady(Date.now() + 300, refused));
        if (reasons.length === 1) ending.abort();
        return { instanceNonce: 'test' };
      },
      onWelcome: () => undefined,
      onCommand: () => undefined,
      onResultAck: () => undefined,
      onLost: () => undefined,
      onAway: () => undefined,
    },
  });
  await client.run(ending.signal);
  expect(reasons).toEqual(['connect ECONNREFUSED 127.0.0.1:1']); // nothing of gRPC's own words
});

it('waits as the gateway asked when it was lost, and by its own backoff when nobody is there to ask (B6)', async () => {
  const gateway = new TestGateway();
  await gateway.listen();
  const ending = new AbortController();
  const delays: number[] = [];
  const log = pino({
    hooks: {
      logMethod: ([fields]) => {
        const { delayMs } = fields as { delayMs?: number };
        if (delayMs === undefined) return;
        delays.push(delayMs);
        if (delays.length === 3) ending.abort();
      },
    },
  });
  const client = new GatewayClient({
    openChannel: async () => new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure()),
    credential: 'secret',
    log,
    random: () => 0.001,
    listener: {
      hello: async () => ({ instanceNonce: 'test' }),
      onWelcome: () => {
        const goAway = { reason: GoAway_Reason.SHUTTING_DOWN, reconnectWindowMs: 90_000, message: 'stops' };
        gateway.say({ case: 'goAway', value: goAway });
      },
      onCommand: () => undefined,
      onResultAck: () => undefined,
      onLost: () => undefined,
      onAway: () => gateway.server.forceShutdown(),
    },
  });
  await client.run(ending.signal);
  expect(delays).toEqual([90, 2, 4]);
});
