/** A program of its own: prints every server-sent event as a line and comes back with Last-Event-ID. `URL KEY` */
import { setTimeout as sleep } from 'node:timers/promises';
import { serverSentEvents } from '@hoodcloud/contracts/http/event-stream';
import { printEvent } from './print-event.ts';

const [url = '', key = ''] = process.argv.slice(2);
let lastId: string | null = null;

async function followUntilLost(): Promise<void> {
  const response = await fetch(`${url}/api/v1/events`, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${key}`,
      ...(lastId !== null && { 'last-event-id': lastId }),
    },
  });
  if (!response.ok || !response.body) throw new Error(`the API answered ${response.status}`);
  for await (const { id, data } of serverSentEvents(response.body)) {
    printEvent(JSON.parse(data), id ?? '');
    lastId = id;
  }
}

for (;;) {
  try {
    await followUntilLost();
  } catch (error) {
    console.log(`tried again after: ${error}`);
  }
  await sleep(200);
}
