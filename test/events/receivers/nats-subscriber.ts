/** A program of its own: prints every event of a JetStream stream as a line, across restarts of the server. `URL STREAM` */
import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { printEvent } from './print-event.ts';

const DURABLE = 'receiver';
const [url = '', stream = ''] = process.argv.slice(2);

async function consumeUntilLost(): Promise<void> {
  const connection = await connect({ servers: url, reconnect: false, timeout: 2000 });
  const manager = await jetstreamManager(connection);
  // made once, found again later: the server remembers what was acknowledged
  await manager.consumers.add(stream, { durable_name: DURABLE, ack_policy: AckPolicy.Explicit, max_ack_pending: 1 });
  const consumer = await jetstream(connection).consumers.get(stream, DURABLE);
  const messages = await consumer.consume({ max_messages: 50 });
  connection.closed().then(() => messages.close());
  for await (const message of messages) {
    printEvent(message.json(), message.headers?.get('Nats-Msg-Id') ?? '');
    message.ack();
  }
}

for (;;) {
  try {
    await consumeUntilLost();
  } catch (error) {
    console.log(`tried again after: ${error}`);
  }
  await sleep(200);
}
