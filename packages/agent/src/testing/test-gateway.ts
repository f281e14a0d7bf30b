import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  status,
} from '@grpc/grpc-js';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import {
  type CommandSchema,
  type ConnectRequest,
  type ConnectResponse,
  ConnectResponseSchema,
  type JoinRequest,
  type JoinResponse,
  JoinResponseSchema,
} from '@hoodcloud/contracts/wire/agent-v1';

type Call = ServerDuplexStream<ConnectRequest, ConnectResponse>;
/** What a gateway may say. */
export type GatewayMessage = NonNullable<MessageInitShape<typeof ConnectResponseSchema>['message']>;

/** A gateway that welcomes everyone and keeps what it is told. */
export class TestGateway {
  readonly server = new Server();
  readonly received: ConnectRequest['message'][] = [];
  readonly credentials: string[] = [];
  /** Each new session. */
  readonly sessions: Call[] = [];
  readonly #commands: MessageInitShape<typeof CommandSchema>[] = [];
  tokens = new Set(['good-token']);
  port = 0;

  /** @param address loopback, or a lab's control address for agents on its hosts */
  async listen(port = 0, address = '127.0.0.1'): Promise<void> {
    const join: handleUnaryCall<JoinRequest, JoinResponse> = ({ request }, answer) => {
      if (!this.tokens.delete(request.joinToken)) {
        answer({ code: status.UNAUTHENTICATED, details: 'this token was used already or is unknown' });
      } else
        answer(null, create(JoinResponseSchema, { nodeId: 'node-id', nodeName: 'validator-1', credential: 'secret' }));
    };
    const connect: handleBidiStreamingCall<ConnectRequest, ConnectResponse> = (call) => {
      this.credentials.push(String(call.metadata.get('authorization')[0]));
      call.on('error', () => undefined); // the agent goes as it likes
      call.on('data', ({ message }: ConnectRequest) => {
        this.received.push(message);
        if (message.case !== 'hello') return;
        this.sessions.push(call);
        this.say({
          case: 'welcome',
          value: { sessionId: `s${this.sessions.length}`, heartbeatIntervalMs: 200, reconnectWindowMs: 100 },
        });
        for (const value of this.#commands) if (!this.#hasResult(value.commandId)) this.say({ case: 'command', value });
      });
    };
    this.server.addService(agentGatewayService, { join, connect });
    this.port = await new Promise((resolve, reject) => {
      this.server.bindAsync(`${address}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
  }

  /** Gives a command, and again in each new session until its result has come: at least once (B1). */
  command(command: MessageInitShape<typeof CommandSchema>): void {
    this.#commands.push(command);
    this.say({ case: 'command', value: command });
  }

  say(message: GatewayMessage): void {
    this.sessions.at(-1)?.write(create(ConnectResponseSchema, { message }));
  }

  #hasResult(commandId: string | undefined): boolean {
    return this.all('commandResult').some((result) => result.commandId === commandId);
  }

  all<C extends NonNullable<ConnectRequest['message']['case']>>(wanted: C) {
    type Value = Extract<ConnectRequest['message'], { case: C }>['value'];
    return this.received.filter((message) => message.case === wanted).map((message) => message.value as Value);
  }
}
