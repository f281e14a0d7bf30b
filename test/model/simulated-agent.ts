import { type Command, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import type { WireAgent } from '@hoodcloud/controlplane/gateway/testing/wire-agent';

/** What an agent says of an upgrade. */
export type AgentAnswer = 'completed' | 'rolled_back' | 'refused' | 'failed_rollback';

const OUTCOMES: Readonly<Record<AgentAnswer, Outcome>> = {
  completed: Outcome.COMPLETED,
  rolled_back: Outcome.ROLLED_BACK,
  refused: Outcome.REFUSED,
  failed_rollback: Outcome.FAILED_ROLLBACK,
};

/**
 * An agent over the real protocol that upgrades nothing: it answers an UPGRADE when a test says how it went, and undoes
 * and confirms at once. What was ever delivered to it is kept over reconnects.
 */
export class SimulatedAgent {
  readonly nodeId: string;
  readonly #dial: () => Promise<WireAgent>;
  #wire: WireAgent;
  #reconnects: Promise<void> = Promise.resolve();
  readonly #earlier: Command[] = [];
  /** Answers that have been given, by command; one that nobody acknowledged is given again after a reconnect (B1). */
  readonly #answers = new Map<string, { readonly command: Command; readonly answer: AgentAnswer }>();
  readonly #acknowledged = new Set<string>();

  private constructor(nodeId: string, dial: () => Promise<WireAgent>, wire: WireAgent) {
    this.nodeId = nodeId;
    this.#dial = dial;
    this.#wire = wire;
  }

  static async connect(nodeId: string, dial: () => Promise<WireAgent>): Promise<SimulatedAgent> {
    return new SimulatedAgent(nodeId, dial, await dial());
  }

  /** Everything that was delivered, each time that it was. */
  deliveries(): Command[] {
    return [...this.#earlier, ...this.#wire.commands()];
  }

  /** Cuts the connection and comes back; one after the other, since two sessions of one agent are one too many (B3). */
  reconnect(): Promise<void> {
    this.#reconnects = this.#reconnects.then(() => this.#comeBack());
    return this.#reconnects;
  }

  async #comeBack(): Promise<void> {
    this.#earlier.push(...this.#wire.commands());
    for (const id of this.#wire.acks()) this.#acknowledged.add(id);
    this.#wire.close();
    this.#wire = await this.#dial();
    for (const { command, answer } of this.#answers.values()) {
      if (!this.#isAcknowledged(command)) this.#say(command, answer);
    }
  }

  /** Answers an attempt's UPGRADE, unless that was done; true when the gateway has stored it. */
  answer(attemptId: string, answer: AgentAnswer): boolean {
    const command = this.deliveries().find(
      ({ upgrade }) => upgrade?.attemptId === attemptId && upgrade.operation === Operation.UPGRADE,
    );
    if (command === undefined) return false;
    this.#reply(command, answer);
    return this.#isAcknowledged(command);
  }

  /** Undoes what it was told to undo, confirms what it was told to confirm. */
  doTheRest(): void {
    for (const command of this.deliveries()) {
      if (command.upgrade?.operation !== Operation.UPGRADE) this.#reply(command, 'completed');
    }
  }

  #isAcknowledged({ commandId }: Command): boolean {
    return this.#acknowledged.has(commandId) || this.#wire.acks().includes(commandId);
  }

  #reply(command: Command, answer: AgentAnswer): void {
    if (this.#answers.has(command.commandId)) return;
    this.#answers.set(command.commandId, { command, answer });
    this.#say(command, answer);
  }

  #say(command: Command, answer: AgentAnswer): void {
    const checksum = command.upgrade?.artifact?.checksum ?? '';
    this.#wire.ack(command);
    this.#wire.result(command, {
      outcome: OUTCOMES[answer],
      errorMessage: answer === 'completed' ? '' : 'the test says so',
      installedChecksum: checksum,
      runningChecksum: checksum,
    });
  }
}
