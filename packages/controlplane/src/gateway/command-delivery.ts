import { create } from '@bufbuild/protobuf';
import { type Command, CommandSchema, CommandType } from '@hoodcloud/contracts/wire/agent-v1';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import type { Database } from '../db/database.ts';
import type { Logger } from '../feature.ts';
import { type DeliverableCommand, type DeliveryScope, takeDeliverable } from './command-store.ts';
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
      stream.command(this.#toWire(row));
      log.info({ command_id: row.id, node_id: row.nodeId, session_id: row.sessionId }, 'command delivered');
    }
  }

  #toWire(row: DeliverableCommand): Command {
    return create(CommandSchema, {
      commandId: row.id,
      type: CommandType.UPGRADE,
      expiresInMs: Math.min(MAX_EXPIRES_MS, Math.max(1, Math.round(row.expiresInMs))),
      upgrade: decodeUpgradePayload(this.#options.openPayload(row.payload)),
    });
  }
}
