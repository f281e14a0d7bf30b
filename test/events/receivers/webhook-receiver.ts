/** A program of its own: checks each webhook's signature by the guide, prints its event as a line. `PORT SECRET` */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { printEvent } from './print-event.ts';

const TOLERANCE_S = 300;
/** So many requests it is overloaded: what it refuses must come again, before anything else. */
const OVERLOADED_AT = 60;

const [port = '', secret = ''] = process.argv.slice(2);
const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
let requests = 0;

/** Whether id, time and body are signed with our key, lately. */
function isGenuine({ headers }: IncomingMessage, body: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  return String(signatures)
    .split(' ')
    .map((signature) => Buffer.from(signature.replace('v1,', ''), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  requests += 1;
  if (requests === OVERLOADED_AT) return response.writeHead(503).end();
  if (!isGenuine(request, body)) {
    console.log('a forged webhook');
    return response.writeHead(401).end();
  }
  const { data } = JSON.parse(body);
  printEvent(data, String(request.headers['webhook-id']));
  return response.writeHead(204).end();
});
server.listen(Number(port), '127.0.0.1', () => console.log('listens'));
