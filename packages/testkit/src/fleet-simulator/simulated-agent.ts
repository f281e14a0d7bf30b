import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { reconnectDelayMs } from '@hoodcloud/agent/reconnect-delay';
import {
  ArtifactKind,
  type Command,
  type CommandResultSchema,
  type ComponentReportSchema,
  type ConnectResponse,
  Operation,
  Outcome,
  RuntimeType,
} from '@hoodcloud/contracts/wire/agent-v1';
import { AgentSession, type AgentTls } from './agent-session.ts';
import { scriptedUpgrade, type UpgradeScript } from './upgrade-script.ts';

/** What it tells of an upgrade, at even times. */
const PROGRESS = [
  ['acquire_artifact', 'PREPARING'],
  ['stop_node', 'STOPPED'],
  ['install_artifact', 'MUTATING'],
  ['start_node', 'STARTING'],
] as const;

/** Who a simulated agent is. */
export interface SimulatedIdentity {
  readonly nodeId: string;
  readonly credential: string;
}

/** What all agents of a fleet share. */
export interface SimulatedAgentParts {
  /** An agent tries them in turn, from one of its own on. */
  readonly gateways: readonly string[];
  readonly tls: AgentTls | null;
  readonly binaryName: string;
  /** `sha256:<hex>` that runs in the beginning. */
  readonly running: string;
  /** Value of this metric grows by one with each heartbeat. */
  readonly heightMetric: string;
  /** Null: as the gateway asks. */
  readonly heartbeatMs: number | null;
  readonly script: UpgradeScript;
  readonly watch: AgentWatch;
}

/** Hears what agents live through. */
export interface AgentWatch {
  readonly connecting: () => void;
  readonly welcomed: () => void;
  /** The gateway has told it to go. */
  readonly sentAway: () => void;
  readonly lost: () => void;
  /** From a heartbeat until the gateway's sign of life behind it, milliseconds. */
  readonly roundTrip: (ms: number) => void;
  readonly command: (nodeId: string, command: Command) => void;
  /** It says that a command's work has come to this phase. */
  readonly phase: (commandId: string, phase: string) => void;
}

/** Nobody listens. */
export const UNWATCHED: AgentWatch = {
  connecting: () => undefined,
  welcomed: () => undefined,
  sentAway: () => undefined,
  lost: () => undefined,
  roundTrip: () => undefined,
  command: () => undefined,
  phase: () => undefined,
};

/** What an agent did for one attempt. */
export interface Done {
  readonly attemptId: string;
  readonly commandIds: Set<string>;
  /** How often the upgrade was really done: a command that comes again must not do it again. */
  times: number;
}

/**
 * An agent over the real protocol without a node: it comes back by the real agent's rule whenever it is cut off, keeps what it
 * did as the real one keeps its records, and says its results until they are acknowledged (B1, B2, B6).
 */
export class SimulatedAgent {
  readonly done = new Map<string, Done>();
  readonly nodeId: string;
  readonly #identity: SimulatedIdentity;
  readonly #parts: SimulatedAgentParts;
  readonly #nonce = randomUUID();
  readonly #taken = new Set<string>();
  readonly #results = new Map<string, MessageInitShape<typeof CommandResultSchema>>();
  #session: AgentSession | null = null;
  #welcomed = false;
  #failures = 0;
  #windowMs = 0;
  #turn: number;
  #running: string;
  #height = 1;
  #stopped = false;
  #redial: NodeJS.Timeout | undefined;
  #beat: NodeJS.Timeout | undefined;

  constructor(identity: SimulatedIdentity, parts: SimulatedAgentParts, turn = 0) {
    this.nodeId = identity.nodeId;
    this.#identity = identity;
    this.#parts = parts;
    this.#turn = turn;
    this.#running = parts.running;
  }

  /** `sha256:<hex>` that its node runs. */
  get running(): string {
    return this.#running;
  }

  start(): void {
    const { gateways, tls, watch } = this.#parts;
    watch.connecting();
    this.#windowMs = 0;
    const session = AgentSession.open({
      gateway: gateways[this.#turn++ % gateways.length] ?? '',
      tls,
      credential: this.#identity.credential,
      onMessage: (message) => this.#hear(message),
      onEnd: () => this.#ended(),
    });
    this.#session = session;
    session.send({
      case: 'hello',
      value: { instanceNonce: this.#nonce, agentVersion: '0.1.0', hostname: 'simulated', components: [this.#report()] },
    });
  }

  /** Hangs up and stays away. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#redial);
    clearTimeout(this.#beat);
    this.#session?.close();
  }

  #hear(message: ConnectResponse['message']): void {
    switch (message.case) {
      case 'welcome': {
        this.#welcomed = true;
        this.#failures = 0;
        this.#windowMs = message.value.reconnectWindowMs;
        this.#parts.watch.welcomed();
        const every = this.#parts.heartbeatMs ?? message.value.heartbeatIntervalMs;
        this.#beat = setTimeout(() => this.#heartbeat(every), Math.random() * every);
        for (const value of this.#results.values()) this.#session?.send({ case: 'commandResult', value });
        break;
      }
      case 'command':
        this.#take(message.value);
        break;
      case 'resultAck':
        this.#results.delete(message.value.commandId);
        break;
      case 'goAway':
        this.#parts.watch.sentAway();
        this.#windowMs = message.value.reconnectWindowMs || this.#windowMs;
        this.#session?.close();
        break;
      default:
    }
  }

  #ended(): void {
    clearTimeout(this.#beat);
    if (this.#welcomed) this.#parts.watch.lost();
    else this.#failures += 1;
    this.#welcomed = false;
    this.#session = null;
    if (this.#stopped) return;
    this.#redial = setTimeout(() => this.start(), reconnectDelayMs(this.#failures, this.#windowMs, Math.random()));
  }

  #heartbeat(everyMs: number): void {
    this.#height += 1;
    this.#session?.send({ case: 'heartbeat', value: { components: [this.#report()] } });
    this.#session?.ping(this.#parts.watch.roundTrip);
    this.#beat = setTimeout(() => this.#heartbeat(everyMs), everyMs);
  }

  #take(command: Command): void {
    const { commandId } = command;
    this.#session?.send({ case: 'commandAck', value: { commandId } });
    this.#parts.watch.command(this.nodeId, command);
    if (this.#taken.has(commandId)) return;
    this.#taken.add(commandId);
    this.#obey(command).catch((error) => console.error(error));
  }

  async #obey({ commandId, upgrade }: Command): Promise<void> {
    const { attemptId = '', operation = Operation.UNSPECIFIED } = upgrade ?? {};
    const outcome =
      operation === Operation.UPGRADE ? await this.#upgrade(commandId, attemptId, upgrade) : Outcome.COMPLETED;
    const shown = { installedChecksum: this.#running, runningChecksum: this.#running };
    const failed = outcome === Outcome.ROLLED_BACK && { errorCode: 'scripted', errorMessage: 'as the script says' };
    const value = { commandId, attemptId, operation, outcome, ...shown, ...failed };
    this.#results.set(commandId, value);
    if (this.#welcomed) this.#session?.send({ case: 'commandResult', value });
  }

  async #upgrade(commandId: string, attemptId: string, upgrade: Command['upgrade']): Promise<Outcome> {
    const { ms, outcome } = scriptedUpgrade(this.#parts.script, attemptId);
    const done = this.done.get(attemptId) ?? { attemptId, commandIds: new Set(), times: 0 };
    this.done.set(attemptId, done);
    done.commandIds.add(commandId);
    if (done.times > 0) return outcome; // as the real agent's record says
    done.times += 1;
    await this.#work(ms, commandId, attemptId);
    if (outcome === Outcome.COMPLETED) this.#running = upgrade?.artifact?.checksum ?? this.#running;
    return outcome;
  }

  /** Lets the time pass and tells of it. */
  async #work(ms: number, commandId: string, attemptId: string): Promise<void> {
    const { reportEveryMs } = this.#parts.script;
    const reports =
      reportEveryMs === null ? PROGRESS.length : Math.max(PROGRESS.length, Math.round(ms / reportEveryMs));
    let told = '';
    for (let report = 0; report < reports; report += 1) {
      if (ms > 0) await sleep(ms / reports);
      const actionIndex = Math.floor((report / reports) * PROGRESS.length);
      const [actionName, phase] = PROGRESS[actionIndex] ?? PROGRESS[0];
      const progressPct = Math.round(((report + 1) / reports) * 100);
      // when it was said, for who measures how long it takes to arrive
      const value = {
        commandId,
        attemptId,
        actionIndex,
        actionName,
        progressPct,
        phase,
        note: `said at ${Date.now()}`,
      };
      if (!this.#welcomed) continue;
      if (phase !== told) this.#parts.watch.phase(commandId, phase);
      told = phase;
      this.#session?.send({ case: 'commandProgress', value });
    }
  }

  #report(): MessageInitShape<typeof ComponentReportSchema> {
    const { binaryName, heightMetric } = this.#parts;
    return {
      binaryName,
      runtimeType: RuntimeType.PROCESS,
      artifactKind: ArtifactKind.FILE,
      active: true,
      mainPid: 4711,
      mainPidStartedAt: 1000n,
      runningChecksum: this.#running,
      installedChecksum: this.#running,
      metrics: [{ name: heightMetric, labels: {}, value: this.#height }],
    };
  }
}
