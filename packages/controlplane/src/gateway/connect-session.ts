import { create } from '@bufbuild/protobuf';
import { type ConnectRequest, type Hello, WelcomeSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { dropMissingComponents, upsertComponents } from '../health/component-store.ts';
import { endSession, openSession } from './agent-session-store.ts';
import { AgentStream, type GrpcStream, QUARANTINED, SUPERSEDED, sendGoAway } from './agent-stream.ts';
import type { AuthenticatedNode } from './authenticate-agent.ts';
import { recordResult } from './command-result.ts';
import { acknowledgeCommand } from './command-store.ts';
import { BadMessageError } from './gateway-error.ts';
import { connectedAgents, countResult } from './gateway-metrics.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { ChecksumWatch } from './heartbeat-buffer.ts';
import { checkCommandId, checkComponents } from './message-checks.ts';

/** One agent's session on this gateway: opened by its hello, fed by its messages, closed with its stream. */
export class ConnectSession {
  readonly #parts: GatewayParts;
  readonly #node: AuthenticatedNode;
  readonly #stream: AgentStream;
  readonly #checksums = new ChecksumWatch();

  private constructor(parts: GatewayParts, node: AuthenticatedNode, stream: AgentStream) {
    this.#parts = parts;
    this.#node = node;
    this.#stream = stream;
  }

  /**
   * Opens the session and says welcome; every open command follows.
   * @returns null when the node is quarantined: the agent was told to go
   */
  static async open(
    parts: GatewayParts,
    call: GrpcStream,
    node: AuthenticatedNode,
    hello: Hello,
  ): Promise<ConnectSession | null> {
    const opened = await openSession(parts.db, parts.gatewayId, node, hello);
    if ('quarantined' in opened) {
      sendGoAway(call, QUARANTINED, parts.fleet.reconnectWindowMs());
      return null;
    }
    const stream = new AgentStream(call, node.nodeId, opened);
    const session = new ConnectSession(parts, node, stream);
    connectedAgents.inc();
    parts.streams.add(stream)?.goAway(SUPERSEDED, parts.fleet.reconnectWindowMs());
    try {
      await session.#welcome(hello);
    } catch (error) {
      await session.close('closed_by_agent');
      throw error;
    }
    return session;
  }

  /** Whether the gateway has sent the agent away: what still comes on the stream is not heard. */
  get isOver(): boolean {
    return this.#stream.departure !== null;
  }

  /** @throws BadMessageError when the message can't be what an agent means */
  async receive({ message }: ConnectRequest): Promise<void> {
    const { db, progress } = this.#parts;
    switch (message.case) {
      case 'heartbeat': {
        const { components, sentAt } = message.value;
        checkComponents('heartbeat', components);
        const sentAtMs = sentAt ? Number(sentAt.seconds) * 1000 + sentAt.nanos / 1e6 : null;
        this.#parts.heartbeats.add({
          nodeId: this.#node.nodeId,
          sessionId: this.#stream.sessionId,
          components,
          clockSkewMs: sentAtMs === null ? null : sentAtMs - Date.now(),
        });
        return this.#nameVersions(components);
      }
      case 'commandAck':
        checkCommandId('command_ack', message.value.commandId);
        return acknowledgeCommand(db, this.#node.nodeId, message.value.commandId);
      case 'commandProgress':
        checkCommandId('command_progress', message.value.commandId);
        return progress.add(this.#node.nodeId, message.value);
      case 'commandResult':
        return this.#result(message.value);
      case 'hello':
        throw new BadMessageError('hello came twice on one stream');
      case undefined:
        throw new BadMessageError('a message of the stream is empty or of a kind that this gateway does not know');
    }
  }

  /** The stream is gone: so is the session, unless a newer one has ended it before. */
  async close(reason: 'closed_by_agent' | 'bad_message'): Promise<void> {
    this.#parts.streams.remove(this.#stream);
    connectedAgents.dec();
    const { db, log } = this.#parts;
    try {
      await endSession(db, this.#stream.sessionId, this.#stream.departure?.sessionEnd ?? reason);
    } catch (error) {
      // The row stays open until the agent's next session supersedes it or its heartbeats are missed.
      log.warn({ err: error, session_id: this.#stream.sessionId }, 'the end of a session could not be stored');
    }
  }

  async #welcome(hello: Hello): Promise<void> {
    const { db, judges, fleet, delivery, heartbeatIntervalMs } = this.#parts;
    const chain = await judges.of(this.#node.chainProfileId);
    const report = { nodeId: this.#node.nodeId, components: hello.components };
    await db.transaction().execute(async (tx) => {
      await upsertComponents(tx, [report]);
      await dropMissingComponents(tx, report);
    });
    this.#stream.welcome(
      create(WelcomeSchema, {
        sessionId: this.#stream.sessionId,
        heartbeatIntervalMs,
        reconnectWindowMs: fleet.reconnectWindowMs(),
        metricsWanted: hello.components.map(({ binaryName }) => ({
          binaryName,
          metricNames: [...(chain?.judge.metricNames ?? [])],
        })),
      }),
    );
    await delivery.deliverAll(this.#node.nodeId);
    await this.#nameVersions(hello.components);
  }

  /**
   * What came before the result on the stream is stored before it: progress, so that no phase is lost, and heartbeats,
   * so that none that was sent before counts as "after the result" (D1). The acknowledgement follows the commit.
   */
  async #result(result: Parameters<typeof recordResult>[2]): Promise<void> {
    checkCommandId('command_result', result.commandId);
    const { db, log, progress, heartbeats } = this.#parts;
    if (progress.has(result.commandId)) await progress.flush();
    if (heartbeats.hasOf(this.#node.nodeId)) await heartbeats.flush();
    const fate = await recordResult(db, this.#node.nodeId, result);
    countResult(fate);
    const fields = { command_id: result.commandId, node_id: this.#node.nodeId, fate };
    if (fate === 'unknown') log.warn(fields, 'result of a command that is not known for this node; dropped');
    else log.info(fields, 'command result received');
    this.#stream.resultAck(result.commandId);
  }

  async #nameVersions(components: Hello['components']): Promise<void> {
    const { checksumSeen, log } = this.#parts;
    for (const { binaryName, runningChecksum } of this.#checksums.news(components)) {
      try {
        await checksumSeen(this.#node.nodeId, binaryName, runningChecksum);
      } catch (error) {
        // A node without a name for its version is shown as unknown; it must not lose its stream for it (B2).
        log.warn({ err: error, node_id: this.#node.nodeId, binary_name: binaryName }, 'the version could not be named');
      }
    }
  }
}
