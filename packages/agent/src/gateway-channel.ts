import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { create } from '@bufbuild/protobuf';
import { type ChannelCredentials, type ChannelOptions, Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { agentGatewayService } from '@hoodcloud/contracts/wire/agent-gateway-service';
import type { JoinResponse } from '@hoodcloud/contracts/wire/agent-v1';
import { JoinRequestSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { MAX_MESSAGE_BYTES } from '@hoodcloud/contracts/wire/message-limits';
import type { ControlPlaneConfig } from './agent-config.ts';
import { AgentError } from './agent-error.ts';
import { AGENT_VERSION } from './agent-version.ts';

const JOIN_TIMEOUT_MS = 20_000;

/** A connection to the gateway; nothing is dialled before the first call. Close it in the end. */
export async function openChannel(controlPlane: ControlPlaneConfig): Promise<Client> {
  const options: ChannelOptions = {
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    // a lost connection ends the stream; when to dial again is for the agent's own back-off (B6)
    'grpc.enable_retries': 0,
  };
  const name = controlPlane.tls?.server_name;
  if (name) options['grpc.ssl_target_name_override'] = name;
  return new Client(controlPlane.address, await channelCredentials(controlPlane), options);
}

async function channelCredentials({ tls }: ControlPlaneConfig): Promise<ChannelCredentials> {
  if (tls === null) return credentials.createInsecure();
  const [ca, key, cert] = await Promise.all([tls.ca_file, tls.key_file, tls.cert_file].map(readPem));
  return credentials.createSsl(ca ?? null, key ?? null, cert ?? null);
}

async function readPem(file: string | null): Promise<Buffer | null> {
  return file === null ? null : readFile(file);
}

/** As Go names them. */
export function platform(): { os: string; arch: string } {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return { os: process.platform, arch };
}

/**
 * Exchanges a one-time join token for the node's own credential (B3).
 * @throws AgentError `join_refused` | `gateway_unreachable`
 */
export async function join(controlPlane: ControlPlaneConfig, joinToken: string): Promise<JoinResponse> {
  const client = await openChannel(controlPlane);
  const request = create(JoinRequestSchema, {
    joinToken,
    hostname: hostname(),
    agentVersion: AGENT_VERSION,
    platform: platform(),
  });
  const { path, requestSerialize, responseDeserialize } = agentGatewayService.join;
  try {
    return await new Promise((resolve, reject) => {
      const deadline = Date.now() + JOIN_TIMEOUT_MS;
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, { deadline }, (error, response) => {
        if (error === null && response !== undefined) resolve(response);
        else reject(joinError(controlPlane, error));
      });
    });
  } finally {
    client.close();
  }
}

/** What gRPC says of a failed call, for people: without its code, and of a connection that failed only why. */
export function plainReason(message: string): string {
  return message
    .replace(/^\d+ [A-Z_]+: /, '')
    .replace(/^No connection established\. Last error: (?:Error: )?(.*?)\. Resolution note:.*$/s, '$1');
}

function joinError({ address }: ControlPlaneConfig, error: ServiceError | null): AgentError {
  const details = plainReason(error?.details ?? 'it answered nothing');
  const options = error === null ? undefined : { cause: error };
  // UNAVAILABLE and DEADLINE_EXCEEDED say that nobody answered; anything else is an answer
  if (error?.code === 14 || error?.code === 4) {
    return new AgentError('gateway_unreachable', `the gateway ${address} can't be reached: ${details}`, options);
  }
  return new AgentError('join_refused', `the gateway ${address} refused the join token: ${details}`, options);
}
