import type { Database } from '../db/database.ts';
import type { Logger } from '../feature.ts';
import type { ChainJudges } from '../health/chain-judges.ts';
import type { CommandDelivery } from './command-delivery.ts';
import type { ProgressBuffer } from './command-progress.ts';
import type { FleetSize } from './fleet-size.ts';
import type { ChecksumSeen, HeartbeatBuffer } from './heartbeat-buffer.ts';
import type { StreamRegistry } from './stream-registry.ts';

/** What the sessions of one gateway share. */
export interface GatewayParts {
  readonly gatewayId: string;
  readonly db: Database;
  readonly log: Logger;
  readonly judges: ChainJudges;
  readonly streams: StreamRegistry;
  readonly delivery: CommandDelivery;
  readonly heartbeats: HeartbeatBuffer;
  readonly progress: ProgressBuffer;
  readonly fleet: FleetSize;
  readonly checksumSeen: ChecksumSeen;
  readonly heartbeatIntervalMs: number;
}
