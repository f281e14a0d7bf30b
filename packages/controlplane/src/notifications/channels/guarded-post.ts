import { lookup as resolveName } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { DeliveryError } from '../notification-message.ts';

const TIMEOUT_MS = 10_000;
/** As much of a refusal as an operator is shown. */
const SHOWN_OF_ANSWER = 200;

export interface HookAddress {
  readonly url: string;
  readonly allow_http: boolean;
  readonly allow_private_addresses: boolean;
}

/** Addresses inside our own network: a hook may not be used to reach them unless its configuration says so (SSRF). */
const INSIDE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  INSIDE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  INSIDE.addSubnet(network, prefix, 'ipv6');
}

/** Why a hook must not be called at an address; null when it may. IPv4 addresses inside IPv6 ones are seen through. */
export function refusalOf(address: string): string | null {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (!INSIDE.check(address, family)) return null;
  return 'its address is inside a private network; allow_private_addresses permits that';
}

/**
 * Posts to a hook and waits for its answer; a redirect is not followed. The name is resolved once and the address that is
 * judged is the one that is called, so that a name can't change its mind in between.
 * @throws DeliveryError when it is refused, not reached, or answered by anything but 2xx
 */
export async function guardedPost(hook: HookAddress, body: string, headers: Record<string, string>): Promise<void> {
  const url = new URL(hook.url);
  if (url.protocol !== 'https:' && !hook.allow_http) {
    throw new DeliveryError('the hook is not called without TLS; give it an https URL, or set allow_http');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const refusal = !hook.allow_private_addresses && isIP(host) !== 0 ? refusalOf(host) : null;
  if (refusal) throw new DeliveryError(`the hook is not called: ${refusal}`);
  const answer = await post(url, body, headers, hook.allow_private_addresses);
  if (answer.status >= 200 && answer.status < 300) return;
  throw refused(answer);
}

interface HookAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

function post(url: URL, body: string, headers: Record<string, string>, anywhere: boolean): Promise<HookAnswer> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      reject(
        cause instanceof DeliveryError
          ? cause
          : new DeliveryError(`the hook was not reached: ${cause.message}`, { cause }),
      );
    };
    const sent = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'hoodcloud', ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      agent: false,
      ...(!anywhere && { lookup: guardedLookup }),
    });
    sent.on('error', fail);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (text.length < SHOWN_OF_ANSWER) text += chunk;
      });
      response.on('error', fail);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          text: text.slice(0, SHOWN_OF_ANSWER),
        }),
      );
    });
    sent.end(body);
  });
}

/** The system's look-up, with addresses inside our own network refused. */
const guardedLookup: LookupFunction = (hostname, options, done) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, '', 0);
    const refusal = addresses.map(({ address }) => refusalOf(address)).find((why) => why !== null);
    if (refusal) return done(new DeliveryError(`the hook is not called: ${refusal}`), '', 0);
    const [first] = addresses;
    if (options.all || !first) return done(null, addresses);
    return done(null, first.address, first.family);
  });
};

/** Of 4xx, those that say nothing against this very message are tried again: the hook may be set right meanwhile. */
const TRIED_AGAIN = [401, 403, 404, 408, 409, 425, 429];

function refused({ status, retryAfter, text }: HookAnswer): DeliveryError {
  const permanent = status >= 400 && status < 500 && !TRIED_AGAIN.includes(status);
  const what = status >= 300 && status < 400 ? `${status} (a redirect, which is not followed)` : String(status);
  const seconds = Number(retryAfter);
  const retryAfterMs = retryAfter !== undefined && Number.isFinite(seconds) ? Math.min(seconds, 3600) * 1000 : null;
  return new DeliveryError(`the hook answered ${what}${text ? `: ${text.replace(/\s+/g, ' ')}` : ''}`, {
    permanent,
    retryAfterMs,
  });
}
