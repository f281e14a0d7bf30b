import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Database } from '../db/database.ts';
import type { Notifications } from '../db/notifications.ts';
import type { Logger } from '../feature.ts';
import type { ChainHealthSource } from '../health/chain-health.ts';
import { ChainJudges } from '../health/chain-judges.ts';
import { endSessionsOfGateway, SESSION_CHANNEL, type StreamsMustEnd } from './agent-session-store.ts';
import { CREDENTIAL_REVOKED, type Departure, QUARANTINED, SHUTTING_DOWN, SUPERSEDED } from './agent-stream.ts';
import { CommandDelivery } from './command-delivery.ts';
import { ProgressBuffer } from './command-progress.ts';
import { FleetSize } from './fleet-size.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { GatewayServer, type GatewayTls } from './gateway-server.ts';
import { type ChecksumSeen, HeartbeatBuffer } from './heartbeat-buffer.ts';
import { StreamRegistry } from './stream-registry.ts';

export interface GatewayOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly notifications: Pick<Notifications, 'listen'>;
  readonly chainHealth: ChainHealthSource;
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  /** Null: plain text, for loopback and for a proxy that ends TLS. */
  readonly tls: GatewayTls | null;
  /** A component runs something new: name its version (B2). */
  readonly checksumSeen?: ChecksumSeen;
  /** Reads a command's payload as stored (C12). */
  readonly openPayload?: (stored: Buffer) => Uint8Array;
  readonly heartbeatIntervalMs?: number;
  readonly redeliverAfterMs?: number;
  /** New streams a second (B6). */
  readonly connectsPerSecond?: number;
}

export interface Gateway {
  readonly gatewayId: string;
  /** `host:port` it listens on. */
  readonly address: string;
  /** Certificates rotate without a restart: what connects from now on gets these. */
  replaceTls(tls: GatewayTls): void;
  /** Streams it holds now. */
  streamCount(): number;
  /** Sends every agent away, stores what they said last, ends their sessions. */
  stop(): Promise<void>;
}

/** Heartbeats are stored so often. */
const HEARTBEATS_MS = 250;
/** Progress is what people watch: soon, though the reports of one moment still share a statement. */
const PROGRESS_MS = 20;
const SWEEP_MS = 1_000;
const COUNT_MS = 10_000;

const DEPARTURES: Readonly<Record<StreamsMustEnd['reason'], Departure>> = {
  superseded: SUPERSEDED,
  quarantined: QUARANTINED,
  credential_revoked: CREDENTIAL_REVOKED,
};

/** Starts a gateway: agents' streams on one side, rows on the other; it knows nothing of Temporal (B4). */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const parts = assemble(options);
  const { streams, delivery, heartbeats, progress, fleet, db, log } = parts;
  await fleet.refresh();
  const server = await GatewayServer.listen(parts, options.listen, options.tls, options.connectsPerSecond ?? 250);
  const unlisten = await Promise.all([
    options.notifications.listen('agent_commands', (nodeId) => {
      if (nodeId !== null) delivery.wake(nodeId);
      else for (const held of streams.nodeIds()) delivery.wake(held);
    }),
    options.notifications.listen(SESSION_CHANNEL, (payload) => endStreams(parts, payload)),
  ]);
  const timers = [
    repeat(HEARTBEATS_MS, () => heartbeats.flush(), log),
    repeat(PROGRESS_MS, () => progress.flush(), log),
    repeat(SWEEP_MS, () => (streams.size > 0 ? delivery.deliverStale() : Promise.resolve()), log),
    repeat(COUNT_MS, () => fleet.refresh(), log),
  ];
  log.info({ gateway_id: parts.gatewayId, address: server.address }, 'gateway listens for agents');
  return {
    gatewayId: parts.gatewayId,
    address: server.address,
    replaceTls: (tls) => server.replaceTls(tls),
    streamCount: () => streams.size,
    stop: async () => {
      for (const stopListening of unlisten) stopListening();
      streams.goAwayAll(SHUTTING_DOWN, fleet.reconnectWindowMs());
      await server.stop();
      await Promise.all(timers.map((stopTimer) => stopTimer()));
      await heartbeats.flush();
      await progress.flush();
      await endSessionsOfGateway(db, parts.gatewayId);
    },
  };
}

function assemble(options: GatewayOptions): GatewayParts {
  const { db, log } = options;
  const gatewayId = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const streams = new StreamRegistry();
  const judges = new ChainJudges(options.chainHealth, log);
  const fleet = new FleetSize(db, log);
  return {
    gatewayId,
    db,
    log,
    judges,
    streams,
    fleet,
    delivery: new CommandDelivery({
      db,
      log,
      gatewayId,
      streams,
      redeliverAfterMs: options.redeliverAfterMs ?? 5_000,
      openPayload: options.openPayload ?? ((stored) => stored),
    }),
    heartbeats: new HeartbeatBuffer({
      db,
      log,
      judges,
      onClosedSession: (nodeId, sessionId) =>
        streams.ofSession(nodeId, sessionId)?.goAway(SUPERSEDED, fleet.reconnectWindowMs()),
    }),
    progress: new ProgressBuffer(db, log),
    checksumSeen: options.checksumSeen ?? (() => Promise.resolve()),
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? 5_000,
  };
}

/** Another gateway, or a join, says that streams must end. What is missed here shows with the next heartbeat. */
function endStreams({ streams, fleet }: GatewayParts, payload: string | null): void {
  if (payload === null) return;
  const { nodeId, keepSessionId, reason } = JSON.parse(payload) as StreamsMustEnd;
  const stream = streams.ofNode(nodeId);
  if (stream && stream.sessionId !== keepSessionId) stream.goAway(DEPARTURES[reason], fleet.reconnectWindowMs());
}

/** Runs again and again, never twice at once. @returns stops it and waits for the run under way */
function repeat(everyMs: number, work: () => Promise<void>, log: Logger): () => Promise<void> {
  let running = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = work()
      .catch((error: unknown) => log.warn({ err: error }, 'a periodic task of the gateway failed; it runs again'))
      .finally(() => {
        busy = false;
      });
  }, everyMs);
  return () => {
    clearInterval(timer);
    return running;
  };
}
