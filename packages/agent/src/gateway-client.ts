import { setTimeout as sleep } from 'node:timers/promises';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Client, type ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import {
  type Command,
  type ConnectRequest,
  ConnectRequestSchema,
  type ConnectResponse,
  GoAway_Reason,
  type HelloSchema,
  type Welcome,
} from '@hoodcloud/contracts/wire/agent-v1';
import type { Logger } from 'pino';
import { plainReason } from './gateway-channel.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';

type Stream = ClientDuplexStream<ConnectRequest, ConnectResponse>;
type Message = NonNullable<MessageInitShape<typeof ConnectRequestSchema>['message']>;

/** What arrives, for those who act on it. */
export interface GatewayListener {
  /** First message of each stream. */
  readonly hello: () => Promise<MessageInitShape<typeof HelloSchema>>;
  readonly onWelcome: (welcome: Welcome) => void;
  readonly onCommand: (command: Command) => void;
  readonly onResultAck: (commandId: string) => void;
  /** The stream has ended; nothing can be sent until the next welcome. */
  readonly onLost: () => void;
  /** A stream that ended or never came about, and why; the next one is tried after a while. */
  readonly onAway: (reason: string) => void;
}

export interface GatewayClientOptions {
  readonly openChannel: () => Promise<Client>;
  readonly credential: string;
  readonly log: Logger;
  readonly listener: GatewayListener;
  readonly random?: () => number;
  /** Milliseconds within which a gateway must welcome a new stream. */
  readonly welcomeTimeoutMs?: number;
}

/**
 * The agent's only connection: one stream that it opens itself, and opens again for ever (B1, B6). A session begins with
 * the gateway's welcome; what is sent without one is not kept here: who sends knows what must be sent again.
 */
export class GatewayClient {
  readonly #options: GatewayClientOptions;
  #stream: Stream | null = null;
  /** What the gateway asked for in this connection, or in the one that ended. */
  #windowMs = 0;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
  }

  /** Connects, and again after each loss, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, random = Math.random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const { welcomed, reason } = await this.#session(signal);
      this.#options.listener.onAway(reason);
      if (signal.aborted) break;
      failures = welcomed ? 0 : failures + 1;
      const delayMs = Math.round(reconnectDelayMs(failures, this.#windowMs, random()));
      log.warn({ reason, failures, delayMs }, 'not connected to the gateway; trying again');
      await sleep(delayMs, undefined, { signal }).catch(() => undefined); // only the signal ends it early
    }
  }

  /** False when there is no session; the message is dropped then. */
  send(message: Message): boolean {
    if (this.#stream === null) return false;
    this.#stream.write(create(ConnectRequestSchema, { message }));
    return true;
  }

  /** One stream from its opening to its end. Never rejects: how it ended is a value. */
  async #session(signal: AbortSignal): Promise<{ welcomed: boolean; reason: string }> {
    const { credential, listener, openChannel, welcomeTimeoutMs = 15_000 } = this.#options;
    let channel: Client | null = null;
    let welcomed = false;
    this.#windowMs = 0;
    try {
      channel = await openChannel();
      const hello = await listener.hello();
      // opened last: a refused connection is an event of the stream, which somebody must hear from its first moment
      const stream = openStream(channel, credential);
      const reason = await new Promise<string>((resolve) => {
        const end = (why: string) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          stream.cancel();
          resolve(why);
        };
        const onAbort = () => end('the agent is ending');
        const timer = setTimeout(() => end('the gateway did not welcome us in time'), welcomeTimeoutMs);
        signal.addEventListener('abort', onAbort);
        stream.on('error', (error) => end(plainReason(error.message)));
        stream.on('end', () => end('the gateway ended the stream'));
        stream.on('data', ({ message }: ConnectResponse) => {
          if (message.case === 'welcome') {
            clearTimeout(timer);
            welcomed = true;
            this.#stream = stream;
            this.#windowMs = message.value.reconnectWindowMs;
          }
          this.#take(message, end);
        });
        stream.write(create(ConnectRequestSchema, { message: { case: 'hello', value: hello } }));
      });
      return { welcomed, reason };
    } catch (error) {
      return { welcomed, reason: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#stream = null;
      channel?.close();
      if (welcomed) listener.onLost();
    }
  }

  #take(message: ConnectResponse['message'], end: (why: string) => void): void {
    const { listener, log } = this.#options;
    switch (message.case) {
      case 'welcome':
        log.info({ session: message.value.sessionId }, 'connected to the gateway');
        listener.onWelcome(message.value);
        break;
      case 'command':
        listener.onCommand(message.value);
        break;
      case 'resultAck':
        listener.onResultAck(message.value.commandId);
        break;
      case 'goAway':
        this.#windowMs = message.value.reconnectWindowMs || this.#windowMs;
        end(`the gateway sent us away, ${GoAway_Reason[message.value.reason]}: ${message.value.message}`);
        break;
      default:
        // a newer gateway may say more; it knows our version from the hello
        log.warn({ case: message.case }, 'the gateway sent a message that this agent does not know');
    }
  }
}

function openStream(channel: Client, credential: string): Stream {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${credential}`);
  const { path, requestSerialize, responseDeserialize } = agentGatewayService.connect;
  return channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
}
