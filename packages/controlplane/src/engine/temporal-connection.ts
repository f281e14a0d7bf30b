import { Client, Connection } from '@temporalio/client';

export interface EngineAddress {
  /** host:port of the Temporal frontend. */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
}

/** A client that connects when it is first used and again after a loss, so that a role starts while the engine is away. */
export function openEngineClient({ address, namespace }: EngineAddress): { client: Client; close(): Promise<void> } {
  const connection = Connection.lazy({ address });
  return { client: new Client({ connection, namespace }), close: () => connection.close() };
}
