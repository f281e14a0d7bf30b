import { expect, it } from 'vitest';
import { serverSentEvents } from './event-stream.ts';

async function read(...chunks: string[]) {
  const encoder = new TextEncoder();
  async function* body() {
    for (const chunk of chunks) yield encoder.encode(chunk);
  }
  const events = [];
  for await (const event of serverSentEvents(body())) events.push(event);
  return events;
}

it('reads events wherever the chunks are cut, also between carriage return and line feed', async () => {
  const expected = [{ id: '7', event: 'message', data: '{"a":1}' }];
  expect(await read('id: 7\ndata: {"a":1}\n\n')).toEqual(expected);
  expect(await read('id', ': 7\r', '\ndata: {"a"', ':1}\r\n\r', '\n')).toEqual(expected);
});

it('joins data lines, leaves out comments and an event that was cut', async () => {
  expect(await read(': alive\n\nevent: x\ndata: one\ndata: two\n\ndata: cut')).toEqual([
    { id: null, event: 'x', data: 'one\ntwo' },
  ]);
});
