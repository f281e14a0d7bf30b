import { status } from '@grpc/grpc-js';
import type { ConnectRequest, Hello } from '@hoodcloud/contracts/wire/agent-v1';
import { GoAway_Reason } from '@hoodcloud/contracts/wire/agent-v1';
import { bearerSecret } from './agent-secret.ts';
import { type Departure, type GrpcStream, sendError, sendGoAway } from './agent-stream.ts';
import { type AuthenticatedNode, authenticateAgent } from './authenticate-agent.ts';
import { ConnectSession } from './connect-session.ts';
import { BadMessageError, GatewayError, NotAuthenticatedError } from './gateway-error.ts';
import { countRefusedStream } from './gateway-metrics.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { checkHello } from './message-checks.ts';
import type { TokenBucket } from './token-bucket.ts';

/** An agent that has dialled says hello within so many milliseconds, or makes room. */
const HELLO_WITHIN_MS = 15_000;

const OVERLOADED: Departure = {
  reason: GoAway_Reason.OVERLOADED,
  message: 'too many agents connect at once; connect again within the window',
  sessionEnd: 'closed_by_agent',
};

/**
 * Serves one stream from its first byte to its last: authentication, hello, then its messages strictly one after the
 * other, so that a result never overtakes the progress before it, and a slow database slows the agent down instead of
 * filling memory.
 */
export async function serveConnect(parts: GatewayParts, admission: TokenBucket, call: GrpcStream): Promise<void> {
  if (!admission.take(performance.now())) {
    countRefusedStream('OVERLOADED');
    sendGoAway(call, OVERLOADED, parts.fleet.reconnectWindowMs());
    return;
  }
  let session: ConnectSession | null = null;
  let end: 'closed_by_agent' | 'bad_message' = 'closed_by_agent';
  const helloTimer = setTimeout(() => {
    sendError(call, new GatewayError(status.DEADLINE_EXCEEDED, 'no hello came on the stream'));
    call.destroy();
  }, HELLO_WITHIN_MS);
  try {
    const node = await authenticate(parts, call);
    for await (const message of call.iterator({ destroyOnReturn: false }) as AsyncIterable<ConnectRequest>) {
      if (session) {
        await session.receive(message);
      } else {
        clearTimeout(helloTimer);
        session = await ConnectSession.open(parts, call, node, helloOf(message));
      }
      if (!session || session.isOver) break;
    }
    call.end();
  } catch (error) {
    if (error instanceof BadMessageError) end = 'bad_message';
    reportFailure(parts, call, error);
  } finally {
    clearTimeout(helloTimer);
    await session?.close(end);
  }
}

async function authenticate(parts: GatewayParts, call: GrpcStream): Promise<AuthenticatedNode> {
  const secret = bearerSecret(call.metadata.get('authorization')[0]?.toString());
  if (!secret) {
    throw new NotAuthenticatedError('the stream carries no credential: metadata `authorization: Bearer <credential>`');
  }
  return authenticateAgent(parts.db, secret);
}

function helloOf({ message }: ConnectRequest): Hello {
  if (message.case !== 'hello') throw new BadMessageError(`the first message must be hello, not ${message.case}`);
  checkHello(message.value);
  return message.value;
}

/** A refusal goes to the agent; a stream that broke is a normal end; the rest is the gateway's own trouble. */
function reportFailure({ log }: GatewayParts, call: GrpcStream, error: unknown): void {
  if (error instanceof GatewayError) {
    countRefusedStream(status[error.code] ?? 'UNKNOWN');
    log.warn({ code: error.code, peer: call.getPeer() }, error.details);
    sendError(call, error);
  } else if (call.cancelled || call.destroyed || isStreamEnd(error)) {
    log.info({ peer: call.getPeer(), why: String(error) }, 'an agent stream broke');
  } else {
    log.error({ err: error, peer: call.getPeer() }, 'an agent stream failed');
    sendError(call, new GatewayError(status.UNAVAILABLE, 'the control plane has trouble of its own; connect again'));
  }
}

function isStreamEnd(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
