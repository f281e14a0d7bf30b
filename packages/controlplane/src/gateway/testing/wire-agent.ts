import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import {
  ArtifactKind,
  type Command,
  type CommandResultSchema,
  type ComponentReportSchema,
  type ConnectRequest,
  ConnectRequestSchema,
  type ConnectResponse,
  type GoAway,
  type HelloSchema,
  type JoinRequest,
  JoinRequestSchema,
  type JoinResponse,
  Operation,
  Outcome,
  RuntimeType,
  type Welcome,
} from '@hoodcloud/contracts/wire/agent-v1';

const { join, connect } = agentGatewayService;
/** A wait that has come to nothing; far beyond what a loaded machine needs. */
const PATIENCE_MS = 60_000;

/** Exchanges a join token as an agent does. @throws the gateway's ServiceError */
export function joinAt(address: string, joinToken: string): Promise<JoinResponse> {
  const client = new Client(address, credentials.createInsecure());
  const request = create(JoinRequestSchema, { joinToken, hostname: 'host-1', agentVersion: '0.1.0' });
  return new Promise<JoinResponse>((resolve, reject) => {
    client.makeUnaryRequest<JoinRequest, JoinResponse>(
      join.path,
      join.requestSerialize,
      (bytes) => join.responseDeserialize(bytes) as JoinResponse,
      request,
      (error, response) => {
        client.close();
        if (error || !response) reject(error);
        else resolve(response);
      },
    );
  });
}

type Report = MessageInitShape<typeof ComponentReportSchema>;

/** A component `cometbft` that runs, as the wire says it; what a test is about is overridden. */
export function componentReport(report: Report = {}): Report {
  return {
    binaryName: 'cometbft',
    runtimeType: RuntimeType.PROCESS,
    artifactKind: ArtifactKind.FILE,
    active: true,
    mainPid: 4711,
    mainPidStartedAt: 1000n,
    ...report,
  };
}

/**
 * The wire side of an agent: a real grpc-js client that says what a test tells it to and remembers what it hears. It
 * keeps its own list of done commands, so that a test can see how often one arrived.
 */
export class WireAgent {
  readonly heard: ConnectResponse[] = [];
  readonly #news = new EventEmitter();
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<ConnectRequest | Buffer, ConnectResponse>;
  status: StatusObject | null = null;
  error: ServiceError | null = null;

  private constructor(address: string, credential: string | null, channel = credentials.createInsecure()) {
    this.#client = new Client(address, channel, { 'grpc.use_local_subchannel_pool': 1 });
    const metadata = new Metadata();
    if (credential !== null) metadata.set('authorization', `Bearer ${credential}`);
    this.#stream = this.#client.makeBidiStreamRequest<ConnectRequest | Buffer, ConnectResponse>(
      connect.path,
      (message) => (Buffer.isBuffer(message) ? message : connect.requestSerialize(message)),
      (bytes) => connect.responseDeserialize(bytes) as ConnectResponse,
      metadata,
    );
    this.#stream.on('data', (message: ConnectResponse) => {
      this.heard.push(message);
      this.#news.emit('news');
    });
    this.#stream.on('error', (error: ServiceError) => {
      this.error = error;
    });
    this.#stream.on('status', (status: StatusObject) => {
      this.status = status;
      this.#client.close();
      this.#news.emit('news');
    });
  }

  /** Dials and says nothing yet. */
  static dial(address: string, credential: string | null, channel?: ChannelCredentials): WireAgent {
    return new WireAgent(address, credential, channel);
  }

  /** Dials, says hello and waits for the welcome. */
  static async connect(
    address: string,
    credential: string,
    hello: MessageInitShape<typeof HelloSchema> = {},
  ): Promise<WireAgent> {
    const agent = new WireAgent(address, credential);
    agent.hello(hello);
    await agent.welcome();
    return agent;
  }

  send(message: MessageInitShape<typeof ConnectRequestSchema>['message']): void {
    this.#stream.write(create(ConnectRequestSchema, { message: message ?? { case: undefined } }));
  }

  /** Sends bytes that need not be a message. */
  sendRaw(bytes: Buffer): void {
    this.#stream.write(bytes);
  }

  hello(hello: MessageInitShape<typeof HelloSchema> = {}): void {
    const value = { instanceNonce: randomUUID(), agentVersion: '0.1.0', components: [componentReport()], ...hello };
    this.send({ case: 'hello', value });
  }

  heartbeat(...components: Report[]): void {
    const list = components.length === 0 ? [componentReport()] : components;
    this.send({ case: 'heartbeat', value: { components: list } });
  }

  ack(command: Command): void {
    this.send({ case: 'commandAck', value: { commandId: command.commandId } });
  }

  result(command: Command, result: MessageInitShape<typeof CommandResultSchema> = {}): void {
    const { commandId, upgrade } = command;
    const value = {
      commandId,
      attemptId: upgrade?.attemptId ?? '',
      operation: upgrade?.operation ?? Operation.UNSPECIFIED,
      outcome: Outcome.COMPLETED,
      ...result,
    };
    this.send({ case: 'commandResult', value });
  }

  /** Leaves as a clean agent does. */
  close(): void {
    this.#stream.end();
    this.#stream.cancel();
    this.#client.close();
  }

  welcome(): Promise<Welcome> {
    return this.#first((message) => (message.case === 'welcome' ? message.value : null));
  }

  goAway(): Promise<GoAway> {
    return this.#first((message) => (message.case === 'goAway' ? message.value : null));
  }

  command(): Promise<Command> {
    return this.#first((message) => (message.case === 'command' ? message.value : null));
  }

  commands(): Command[] {
    return this.heard.flatMap(({ message }) => (message.case === 'command' ? [message.value] : []));
  }

  /** Command ids whose result the gateway has stored. */
  acks(): string[] {
    return this.heard.flatMap(({ message }) => (message.case === 'resultAck' ? [message.value.commandId] : []));
  }

  /** Waits for the stream's end. @returns its gRPC status */
  ended(): Promise<StatusObject> {
    return this.#until(() => this.status);
  }

  #first<T>(pick: (message: ConnectResponse['message']) => T | null): Promise<T> {
    return this.#until(() => {
      for (const { message } of this.heard) {
        const found = pick(message);
        if (found !== null) return found;
      }
      return null;
    });
  }

  /** Looks again whenever something is heard: hundreds of agents that poll would be busy with nothing else. */
  #until<T>(look: () => T | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = look();
        if (found === null) return;
        clearTimeout(timer);
        this.#news.off('news', check);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#news.off('news', check);
        const state = this.status ? `ended: ${this.status.details}` : 'is open';
        reject(new Error(`not heard within ${PATIENCE_MS} ms; the stream ${state}`));
      }, PATIENCE_MS);
      this.#news.on('news', check);
      check();
    });
  }
}
