import type { DescMethod, MessageShape } from '@bufbuild/protobuf';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { AgentGatewayService } from './agent-v1.ts';

/** What grpc-js wants to know of a method; shaped like its `MethodDefinition` without importing it. */
interface GrpcMethod<M extends DescMethod> {
  path: string;
  requestStream: boolean;
  responseStream: boolean;
  requestSerialize: (message: MessageShape<M['input']>) => Buffer;
  requestDeserialize: (bytes: Buffer) => MessageShape<M['input']>;
  responseSerialize: (message: MessageShape<M['output']>) => Buffer;
  responseDeserialize: (bytes: Buffer) => MessageShape<M['output']>;
}

function grpcMethod<M extends DescMethod>(method: M): GrpcMethod<M> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: (message) => Buffer.from(toBinary(method.input, message)),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes) as MessageShape<M['input']>,
    responseSerialize: (message) => Buffer.from(toBinary(method.output, message)),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes) as MessageShape<M['output']>,
  };
}

/** The agent gateway's service for grpc-js, on both sides: `{ join, connect }` (B1). */
export const agentGatewayService = {
  join: grpcMethod(AgentGatewayService.method.join),
  connect: grpcMethod(AgentGatewayService.method.connect),
};
