import { status } from '@grpc/grpc-js';

/** A refusal that the agent's operator reads: a gRPC status, and a sentence that says what to do. */
export class GatewayError extends Error {
  readonly code: number;
  readonly details: string;

  constructor(code: number, details: string) {
    super(details);
    this.name = new.target.name;
    this.code = code;
    this.details = details;
  }
}

/** The join token is unknown, used or expired (B3). */
export class JoinRefusedError extends GatewayError {}

/** The credential is missing, unknown or revoked, or its node may not connect. */
export class NotAuthenticatedError extends GatewayError {
  constructor(details: string) {
    super(status.UNAUTHENTICATED, details);
  }
}

/** A message that can't be what an agent means: nothing of it is stored and the stream ends. */
export class BadMessageError extends GatewayError {
  constructor(details: string) {
    super(status.INVALID_ARGUMENT, details);
  }
}
