import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream, type ServiceDefinition } from '@grpc/grpc-js';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import { type ConnectRequest, type ConnectResponse, ConnectResponseSchema } from '@hoodcloud/contracts/wire/agent-v1';

/**
 * The floor of the gateway bench: the same service by the same library with the same TLS, that welcomes whoever comes and
 * forgets what it hears. Arguments: address, and the files of key, certificate and authority.
 */
const [address = '', ...files] = process.argv.slice(2);
const [key, certificate, authority] = files.map((file) => readFileSync(file));
if (!key || !certificate || !authority) throw new Error('the files of key, certificate and authority are missing');

const server = new Server({ 'grpc.keepalive_time_ms': 20_000, 'grpc.keepalive_timeout_ms': 10_000 });
server.addService(agentGatewayService as ServiceDefinition, {
  join: () => undefined,
  connect: (call: ServerDuplexStream<ConnectRequest, ConnectResponse>) => {
    call.on('error', () => undefined); // an agent that hangs up
    call.on('end', () => call.end());
    call.on('data', ({ message }: ConnectRequest) => {
      if (message.case !== 'hello') return;
      const value = { sessionId: 'bare', heartbeatIntervalMs: 30_000, reconnectWindowMs: 60_000 };
      call.write(create(ConnectResponseSchema, { message: { case: 'welcome', value } }));
    });
  },
});
const tls = ServerCredentials.createSsl(authority, [{ private_key: key, cert_chain: certificate }], true);
server.bindAsync(address, tls, (error) => {
  if (error) throw error;
  console.log('listens');
});
