import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type UpgradePayload, UpgradePayloadSchema } from './agent-v1.ts';

/** Bytes of a payload, as `agent_commands.payload` holds them before any encryption (C12). */
export function encodeUpgradePayload(payload: UpgradePayload): Buffer {
  return Buffer.from(toBinary(UpgradePayloadSchema, payload));
}

/** @throws when the bytes are no `UpgradePayload` */
export function decodeUpgradePayload(bytes: Uint8Array): UpgradePayload {
  return fromBinary(UpgradePayloadSchema, bytes);
}
