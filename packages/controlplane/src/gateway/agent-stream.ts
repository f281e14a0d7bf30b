import { create } from '@bufbuild/protobuf';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import {
  type Command,
  type ConnectRequest,
  type ConnectResponse,
  ConnectResponseSchema,
  GoAway_Reason,
  type Welcome,
} from '@hoodcloud/contracts/wire/agent-v1';
import type { SessionEnd } from './agent-session-store.ts';
import type { GatewayError } from './gateway-error.ts';

export type GrpcStream = ServerDuplexStream<ConnectRequest, ConnectResponse>;

/** Why a stream is ended by the gateway: what the agent is told, and what the session's row will say. */
export interface Departure {
  readonly reason: GoAway_Reason;
  readonly message: string;
  readonly sessionEnd: SessionEnd;
}

export const SUPERSEDED: Departure = {
  reason: GoAway_Reason.SUPERSEDED,
  message: 'a newer stream of this node took over',
  sessionEnd: 'superseded',
};
export const SHUTTING_DOWN: Departure = {
  reason: GoAway_Reason.SHUTTING_DOWN,
  message: 'this gateway stops; connect again',
  sessionEnd: 'gateway_stopped',
};
export const QUARANTINED: Departure = {
  reason: GoAway_Reason.QUARANTINED,
  message: 'two hosts claim to be this node; join the right one with a new token',
  sessionEnd: 'quarantined',
};
export const CREDENTIAL_REVOKED: Departure = {
  reason: GoAway_Reason.CREDENTIAL_REVOKED,
  message: 'the node has joined anew; this credential is void',
  sessionEnd: 'credential_revoked',
};

/** The gateway's side of one agent's stream: typed messages out, and one way to end it. */
export class AgentStream {
  readonly nodeId: string;
  readonly sessionId: string;
  /** Grows with each session of the node. */
  readonly openedAt: number;
  readonly #call: GrpcStream;
  #departure: Departure | null = null;

  constructor(call: GrpcStream, nodeId: string, session: { sessionId: string; openedAt: number }) {
    this.#call = call;
    this.nodeId = nodeId;
    this.sessionId = session.sessionId;
    this.openedAt = session.openedAt;
  }

  /** Why the gateway ended it; null while it did not. */
  get departure(): Departure | null {
    return this.#departure;
  }

  welcome(welcome: Welcome): void {
    this.#send({ case: 'welcome', value: welcome });
  }

  command(command: Command): void {
    this.#send({ case: 'command', value: command });
  }

  resultAck(commandId: string): void {
    this.#send({ case: 'resultAck', value: { $typeName: 'hoodcloud.agent.v1.ResultAck', commandId } });
  }

  /** Says good-bye and ends the stream; only the first reason counts. */
  goAway(departure: Departure, reconnectWindowMs: number): void {
    if (this.#departure) return;
    sendGoAway(this.#call, departure, reconnectWindowMs);
    this.#departure = departure;
  }

  #send(message: ConnectResponse['message']): void {
    if (!this.#departure) write(this.#call, message);
  }
}

/** Tells an agent to go, and when to come back, and ends its stream. */
export function sendGoAway(call: GrpcStream, departure: Departure, reconnectWindowMs: number): void {
  const { reason, message } = departure;
  write(call, {
    case: 'goAway',
    value: { $typeName: 'hoodcloud.agent.v1.GoAway', reason, message, reconnectWindowMs },
  });
  if (isOpen(call)) call.end();
}

/** Ends a stream with a gRPC status and the sentence that the agent logs. */
export function sendError(call: GrpcStream, error: GatewayError): void {
  if (isOpen(call)) call.emit('error', error);
}

/** A message to a stream that is gone is dropped: what matters is in rows and is sent again to the next stream. */
function write(call: GrpcStream, message: ConnectResponse['message']): void {
  if (isOpen(call)) call.write(create(ConnectResponseSchema, { message }));
}

function isOpen(call: GrpcStream): boolean {
  return !call.cancelled && !call.destroyed && !call.writableEnded;
}
