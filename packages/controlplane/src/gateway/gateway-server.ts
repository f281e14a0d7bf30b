import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener, type Socket } from 'node:net';
import { create } from '@bufbuild/protobuf';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import {
  type ConnectRequest,
  type ConnectResponse,
  type JoinRequest,
  type JoinResponse,
  JoinResponseSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { MAX_MESSAGE_BYTES } from '@hoodcloud/contracts/wire/message-limits';
import { hostAndPort } from '../telemetry/status-server.ts';
import { joinAgent } from './agent-join.ts';
import { serveConnect } from './connect-handler.ts';
import { GatewayError } from './gateway-error.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { checkJoin } from './message-checks.ts';
import { ServerCertificates } from './server-certificates.ts';
import { TokenBucket } from './token-bucket.ts';

/** Keys as PEM text. */
export interface GatewayTls {
  readonly key: string;
  readonly certificate: string;
  /** With it agents must show a certificate signed by this authority (mTLS, B3). */
  readonly clientAuthority: string | null;
}

/** How long streams may take to end by themselves when the gateway stops. */
const SHUTDOWN_MS = 5_000;

/**
 * The grpc-js server that agents dial: Join and Connect. It is given its connections by a listener of our own, since
 * grpc-js's own way to end one by force waits for the peer, which a frozen host never is.
 */
export class GatewayServer {
  readonly #server: Server;
  readonly #listener: Listener;
  readonly #sockets: ReadonlySet<Socket>;
  readonly #open: Set<Promise<void>>;
  readonly #certificates: ServerCertificates | null;
  readonly address: string;

  private constructor(parts: {
    readonly server: Server;
    readonly listener: Listener;
    readonly sockets: ReadonlySet<Socket>;
    readonly open: Set<Promise<void>>;
    readonly certificates: ServerCertificates | null;
    readonly address: string;
  }) {
    this.#server = parts.server;
    this.#listener = parts.listener;
    this.#sockets = parts.sockets;
    this.#open = parts.open;
    this.#certificates = parts.certificates;
    this.address = parts.address;
  }

  /**
   * @param listen `host:port`; port 0 takes a free one
   * @throws when the port is taken, or a key or certificate can't be used
   */
  static async listen(
    parts: GatewayParts,
    listen: string,
    tls: GatewayTls | null,
    connectsPerSecond: number,
  ): Promise<GatewayServer> {
    const server = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
      // A host that vanished without a word is noticed though nothing is sent to it.
      'grpc.keepalive_time_ms': 20_000,
      'grpc.keepalive_timeout_ms': 10_000,
    });
    const admission = new TokenBucket({
      perSecond: connectsPerSecond,
      burst: connectsPerSecond,
      now: performance.now(),
    });
    const open = new Set<Promise<void>>();
    server.addService(agentGatewayService as ServiceDefinition, {
      join: (call: ServerUnaryCall<JoinRequest, JoinResponse>, answer: sendUnaryData<JoinResponse>) => {
        track(open, serveJoin(parts, call, answer));
      },
      connect: (call: ServerDuplexStream<ConnectRequest, ConnectResponse>) => {
        track(open, serveConnect(parts, admission, call));
      },
    });
    const certificates = tls && new ServerCertificates(tls);
    const injector = server.createConnectionInjector(certificates?.credentials() ?? ServerCredentials.createInsecure());
    const sockets = new Set<Socket>();
    const listener = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      injector.injectConnection(socket);
    });
    const port = await bind(listener, listen);
    return new GatewayServer({
      server,
      listener,
      sockets,
      open,
      certificates,
      address: listen.replace(/:\d+$/, `:${port}`),
    });
  }

  /** New connections get this key and certificate. @throws when the gateway was started without TLS */
  replaceTls(tls: GatewayTls): void {
    if (!this.#certificates) throw new Error('the gateway was started without TLS');
    this.#certificates.replace(tls);
  }

  /** Waits for the streams that were told to go; what is still there after a while is cut, whatever its peer does. */
  async stop(): Promise<void> {
    this.#listener.close();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#sockets) socket.destroy();
      }, SHUTDOWN_MS);
      this.#server.tryShutdown(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    await Promise.all(this.#open);
  }
}

function track(open: Set<Promise<void>>, work: Promise<void>): void {
  const tracked = work.finally(() => open.delete(tracked));
  open.add(tracked);
}

async function serveJoin(
  { db, log }: GatewayParts,
  call: ServerUnaryCall<JoinRequest, JoinResponse>,
  answer: sendUnaryData<JoinResponse>,
): Promise<void> {
  try {
    checkJoin(call.request);
    const joined = await joinAgent(db, call.request);
    log.info({ node_id: joined.nodeId, node: joined.nodeName, peer: call.getPeer() }, 'agent joined');
    answer(null, create(JoinResponseSchema, joined));
  } catch (error) {
    if (error instanceof GatewayError) {
      log.warn({ peer: call.getPeer() }, `join refused: ${error.details}`);
      answer({ code: error.code, details: error.details });
      return;
    }
    log.error({ err: error, peer: call.getPeer() }, 'join failed');
    answer({
      code: status.UNAVAILABLE,
      details: 'the control plane has trouble of its own; join again, the token is still good',
    });
  }
}

async function bind(listener: Listener, listen: string): Promise<number> {
  listener.listen({ ...hostAndPort(listen) });
  await once(listener, 'listening'); // rejects with the listener's error
  return (listener.address() as AddressInfo).port;
}
