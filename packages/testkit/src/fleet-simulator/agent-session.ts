import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import { ConnectRequestSchema, type ConnectResponse } from '@hoodcloud/contracts/wire/agent-v1';

const { path, requestSerialize, responseDeserialize } = agentGatewayService.connect;
/** A gRPC message on the wire: a byte that says "not compressed", four for its length, its bytes. */
const PREFIX_BYTES = 5;

export type AgentMessage = NonNullable<MessageInitShape<typeof ConnectRequestSchema>['message']>;

/** PEM texts of an agent's side of mTLS. */
export interface AgentTls {
  readonly authority: string;
  readonly key: string;
  readonly certificate: string;
}

export interface AgentSessionParts {
  /** `host:port` */
  readonly gateway: string;
  /** Null: plain text. */
  readonly tls: AgentTls | null;
  readonly credential: string;
  readonly onMessage: (message: ConnectResponse['message']) => void;
  /** Once, however the connection ends. */
  readonly onEnd: () => void;
}

/**
 * One agent's connection and its one stream, over bare HTTP/2: a grpc-js channel of its own for each of ten thousand agents
 * would be measured instead of the gateway.
 */
export class AgentSession {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;

  private constructor(parts: AgentSessionParts) {
    const { host, port } = new URL(`http://${parts.gateway}`) as { host: string; port: string };
    const options = { host: host.replace(/:\d+$/, ''), port: Number(port) };
    const { tls } = parts;
    this.#session = connect(`${tls ? 'https' : 'http'}://${parts.gateway}`, {
      ...(tls && {
        createConnection: () =>
          connectTls({ ...options, ca: tls.authority, key: tls.key, cert: tls.certificate, ALPNProtocols: ['h2'] }),
      }),
    });
    const end = () => {
      if (this.#ended) return;
      this.#ended = true;
      this.#session.destroy();
      parts.onEnd();
    };
    this.#session.on('error', end);
    this.#session.on('close', end);
    this.#session.once('connect', (_, socket: Socket) => void socket.setNoDelay(true));
    this.#stream = this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_TE]: 'trailers',
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      authorization: `Bearer ${parts.credential}`,
    });
    this.#stream.on('error', end);
    this.#stream.on('close', end);
    this.#stream.on('data', (bytes: Buffer) => {
      for (const message of this.#messagesOf(bytes)) parts.onMessage(message.message);
    });
  }

  static open(parts: AgentSessionParts): AgentSession {
    return new AgentSession(parts);
  }

  /** What is said after the end is dropped, as with a connection that breaks. */
  send(message: AgentMessage): void {
    if (this.#ended || this.#stream.writableEnded || this.#stream.destroyed) return;
    const body = requestSerialize(create(ConnectRequestSchema, { message }));
    const frame = Buffer.allocUnsafe(PREFIX_BYTES + body.length);
    frame.writeUInt8(0, 0);
    frame.writeUInt32BE(body.length, 1);
    frame.set(body, PREFIX_BYTES);
    this.#stream.write(frame);
  }

  /**
   * Asks the gateway for a sign of life behind all that was said before: it reads a connection's bytes in their order.
   * @param onAnswer milliseconds until the answer came; not called when none does
   */
  ping(onAnswer: (ms: number) => void): void {
    if (this.#ended) return;
    const began = performance.now();
    this.#session.ping((error) => {
      if (!error) onAnswer(performance.now() - began);
    });
  }

  /** Hangs up. */
  close(): void {
    this.#session.destroy();
  }

  *#messagesOf(bytes: Buffer): Generator<ConnectResponse> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.#rest.readUInt32BE(1);
      if (this.#rest.length < end) return;
      const body = this.#rest.subarray(PREFIX_BYTES, end);
      this.#rest = this.#rest.subarray(end);
      yield responseDeserialize(body) as ConnectResponse;
    }
    // A tail of a large buffer would keep all of it.
    if (this.#rest.length === 0) this.#rest = Buffer.alloc(0);
  }
}
