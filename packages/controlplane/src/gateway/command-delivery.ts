import { create, toBinary } from '@bufbuild/protobuf';
import {
  type CommandResult,
  CommandResultSchema,
  CommandSchema,
  CommandType,
  Outcome,
  type UpgradePayload,
} from '@hoodcloud/contracts/wire/agent-v1';
import { MAX_MESSAGE_BYTES } from '@hoodcloud/contracts/wire/message-limits';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import type { Database } from '../db/database.ts';
import type { Logger } from '../feature.ts';
import type { AgentStream } from './agent-stream.ts';
import { recordResult } from './command-result.ts';
import { type DeliverableCommand, type DeliveryScope, takeDeliverable } from './command-store.ts';
import { countDelivery } from './gateway-metrics.ts';
import type { StreamRegistry } from './stream-registry.ts';

/** Largest uint32: a deadline beyond it is as good as none. */
const MAX_EXPIRES_MS = 0xffff_ffff;

export interface CommandDeliveryOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly gatewayId: string;
  readonly streams: StreamRegistry;
  /** Sends a command again that was not acknowledged for so long. */
  readonly redeliverAfterMs: number;
  /** Reads a command's payload as stored; identity unless payloads are encrypted at rest (C12). */
  readonly openPayload: (stored: Buffer) => Uint8Array;
}

/** Sends command rows to the streams this gateway holds (B1). Many wake-ups become one query. */
export class CommandDelivery {
  readonly #options: CommandDeliveryOptions;
  readonly #due = new Set<string>();
  #running: Promise<void> | null = null;

  constructor(options: CommandDeliveryOptions) {
    this.#options = options;
  }

  /** A command was written for the node; nothing happens when another gateway holds its stream. */
  wake(nodeId: string): void {
    if (!this.#options.streams.ofNode(nodeId)) return;
    this.#due.add(nodeId);
    this.#running ??= this.#deliverDue().finally(() => {
      this.#running = null;
    });
  }

  /** Everything that is open goes to a stream that is new. */
  deliverAll(nodeId: string): Promise<void> {
    return this.#deliver({ kind: 'hello', nodeId });
  }

  /** What was not acknowledged, and what a lost notification has left. */
  deliverStale(): Promise<void> {
    return this.#deliver({ kind: 'stale', unacknowledgedForMs: this.#options.redeliverAfterMs });
  }

  async #deliverDue(): Promise<void> {
    while (this.#due.size > 0) {
      const nodeIds = [...this.#due];
      this.#due.clear();
      try {
        await this.#deliver({ kind: 'nodes', nodeIds });
      } catch (error) {
        // The stale sweep finds the same rows again.
        this.#options.log.warn(
          { err: error, nodes: nodeIds.length },
          'commands could not be read; the sweep tries again',
        );
      }
    }
  }

  async #deliver(scope: DeliveryScope): Promise<void> {
    const { db, gatewayId, streams, log } = this.#options;
    for (const row of await takeDeliverable(db, gatewayId, scope)) {
      const stream = streams.ofSession(row.nodeId, row.sessionId);
      if (!stream) continue; // it has just ended: the next hello takes the command
      const fields = { command_id: row.id, node_id: row.nodeId, session_id: row.sessionId };
      try {
        await this.#send(stream, row);
        log.info(fields, 'command delivered');
      } catch (error) {
        // Other nodes' commands must not wait for it; the sweep comes back to it until its deadline.
        log.error({ err: error, ...fields }, 'a command could not be delivered');
      }
    }
  }

  async #send(stream: AgentStream, row: DeliverableCommand): Promise<void> {
    const upgrade = decodeUpgradePayload(this.#options.openPayload(row.payload));
    const command = create(CommandSchema, {
      commandId: row.id,
      // an agent that knows no steps of the vendor must not leave them out: it refuses a type that it doesn't know
      type: upgrade.hooks.length > 0 ? CommandType.UPGRADE_WITH_HOOKS : CommandType.UPGRADE,
      expiresInMs: Math.min(MAX_EXPIRES_MS, Math.max(1, Math.round(row.expiresInMs))),
      upgrade,
    });
    const bytes = toBinary(CommandSchema, command).length;
    if (bytes > MAX_MESSAGE_BYTES) {
      await recordResult(this.#options.db, row.nodeId, refusalOf(row.id, upgrade, bytes));
      return;
    }
    stream.command(command);
    countDelivery();
  }
}

/** A command that no stream can carry ends at once, with a sentence, instead of being tried until its deadline. */
function refusalOf(commandId: string, { attemptId, operation }: UpgradePayload, bytes: number): CommandResult {
  const [size, limit] = [bytes, MAX_MESSAGE_BYTES].map((count) => (count / 1024 / 1024).toFixed(1));
  return create(CommandResultSchema, {
    commandId,
    attemptId,
    operation,
    outcome: Outcome.REFUSED,
    errorCode: 'payload_too_large',
    errorMessage: `The command has ${size} MB with its rendered configs and a stream carries ${limit} MB: change fewer or smaller config files.`,
  });
}
