import type { DescMethod, DescService, MessageShape } from '@bufbuild/protobuf';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { AgentGatewayService } from './agent-v1.ts';

/** What grpc-js wants to know of a method; shaped like its `MethodDefinition` without importing it. */
interface GrpcMethod {
  path: string;
  requestStream: boolean;
  responseStream: boolean;
  requestSerialize: (message: MessageShape<DescMethod['input']>) => Buffer;
  requestDeserialize: (bytes: Buffer) => MessageShape<DescMethod['input']>;
  responseSerialize: (message: MessageShape<DescMethod['output']>) => Buffer;
  responseDeserialize: (bytes: Buffer) => MessageShape<DescMethod['output']>;
}

function grpcMethod(service: DescService, method: DescMethod): GrpcMethod {
  return {
    path: `/${service.typeName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: (message) => Buffer.from(toBinary(method.input, message)),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(method.output, message)),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
  };
}

/** The agent gateway's service for grpc-js, on both sides: `{ join, connect }` (B1). */
export const agentGatewayService = {
  join: grpcMethod(AgentGatewayService, AgentGatewayService.method.join),
  connect: grpcMethod(AgentGatewayService, AgentGatewayService.method.connect),
};
