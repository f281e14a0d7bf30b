import type { JsonValue } from '@bufbuild/protobuf';
import type { ExecutionProgress } from '../upgrade/executor.ts';
import type { AgreedRollback } from './hand.ts';
import type { RollbackPreview } from './rollback-preview.ts';

/** What a command on the host asks of the running agent: one JSON document a line, over a socket that only root may open. */
export type HandRequest =
  | { readonly do: 'preview'; readonly binaryName: string; readonly attemptId: string | null }
  | { readonly do: 'roll_back'; readonly binaryName: string; readonly agreed: AgreedRollback };

/** What the agent answers; after any but a progress the request is done. */
export type HandAnswer =
  | { readonly preview: RollbackPreview }
  | { readonly progress: ExecutionProgress }
  /** CommandResult as protobuf JSON. */
  | { readonly result: JsonValue }
  | { readonly error: { readonly code: string; readonly message: string } };

export const HAND_SOCKET = 'hand.sock';
