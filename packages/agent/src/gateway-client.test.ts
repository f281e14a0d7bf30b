import { Client, credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { GatewayClient } from './gateway-client.ts';

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
