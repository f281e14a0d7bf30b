import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { componentReport, WireAgent } from '@hoodcloud/controlplane/gateway/testing/wire-agent';

const HEARTBEAT_MS = 1_000;
const RECONNECT_MS = 300;
/** What it tells of an upgrade, at even times. */
const PROGRESS = [
  ['acquire_artifact', 'PREPARING'],
  ['stop_node', 'STOPPED'],
  ['install_artifact', 'MUTATING'],
  ['start_node', 'STARTING'],
] as const;

export interface LightAgentParts {
  readonly gateway: string;
  readonly credential: string;
  /** `sha256:<hex>` */
  readonly running: string;
  /** How long an upgrade takes here. */
  readonly upgradeMs: number;
}

/** What is said of a command until the gateway has it. */
interface Result {
  readonly command: Command;
  readonly checksum: string;
}

/** What an agent did for one attempt. */
export interface Done {
  readonly attemptId: string;
  readonly commandIds: Set<string>;
  /** How often the upgrade was really done: a command that comes again must not do it again. */
  times: number;
}

/**
 * An agent over the real protocol without a node: it comes back whenever it is cut off, keeps what it did as the real one
 * keeps its records, and says its results until they are acknowledged (B1, B2).
 */
export class LightAgent {
  readonly done = new Map<string, Done>();
  readonly #parts: LightAgentParts;
  readonly #results = new Map<string, Result>();
  readonly #taken = new Set<string>();
  #running: string;
  #height = 1;
  #stopped = false;
  #life: Promise<void> = Promise.resolve();

  constructor(parts: LightAgentParts) {
    this.#parts = parts;
    this.#running = parts.running;
  }

  start(): void {
    this.#life = this.#live();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#life;
  }

  async #live(): Promise<void> {
    while (!this.#stopped) {
      const wire = WireAgent.dial(this.#parts.gateway, this.#parts.credential);
      wire.hello({ components: [this.#report()] });
      const told = new Set<string>();
      let beatAt = Date.now();
      while (!this.#stopped && wire.status === null) {
        for (const id of wire.acks()) this.#results.delete(id);
        for (const command of wire.commands()) this.#take(wire, command);
        for (const result of this.#results.values()) tell(wire, result, told);
        if (Date.now() - beatAt >= HEARTBEAT_MS) {
          beatAt = Date.now();
          this.#height += 1;
          wire.heartbeat(this.#report());
        }
        await sleep(100);
      }
      wire.close();
      await sleep(RECONNECT_MS);
    }
  }

  #take(wire: WireAgent, command: Command): void {
    if (this.#taken.has(command.commandId)) return;
    this.#taken.add(command.commandId);
    wire.ack(command);
    this.#obey(wire, command).catch((error) => console.error(error));
  }

  async #obey(wire: WireAgent, command: Command): Promise<void> {
    const { upgrade } = command;
    if (upgrade?.operation === Operation.UPGRADE) await this.#upgrade(wire, command);
    this.#results.set(command.commandId, { command, checksum: upgrade?.artifact?.checksum ?? '' });
  }

  async #upgrade(wire: WireAgent, { commandId, upgrade }: Command): Promise<void> {
    const attemptId = upgrade?.attemptId ?? '';
    const done = this.done.get(attemptId) ?? { attemptId, commandIds: new Set(), times: 0 };
    this.done.set(attemptId, done);
    done.commandIds.add(commandId);
    if (done.times > 0) return; // as the real agent's record says
    done.times += 1;
    for (const [actionIndex, [actionName, phase]] of PROGRESS.entries()) {
      await sleep(this.#parts.upgradeMs / PROGRESS.length);
      const value = { commandId, attemptId, actionIndex, actionName, progressPct: 100, phase };
      if (wire.status === null) wire.send({ case: 'commandProgress', value });
    }
    this.#running = upgrade?.artifact?.checksum ?? this.#running;
  }

  #report() {
    const metrics = [{ name: 'tiny_height', labels: {}, value: this.#height }];
    const checksums = { runningChecksum: this.#running, installedChecksum: this.#running };
    return componentReport({ binaryName: 'tinynode', ...checksums, metrics });
  }
}

/** Says a result once a connection. */
function tell(wire: WireAgent, { command, checksum }: Result, told: Set<string>): void {
  if (told.has(command.commandId)) return;
  told.add(command.commandId);
  wire.result(command, { outcome: Outcome.COMPLETED, installedChecksum: checksum, runningChecksum: checksum });
}
