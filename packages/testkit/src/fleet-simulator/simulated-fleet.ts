import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '@hoodcloud/contracts/wire/agent-v1';
import { SimulatedAgent, type SimulatedAgentParts, type SimulatedIdentity } from './simulated-agent.ts';

export interface FleetOptions extends Omit<SimulatedAgentParts, 'watch'> {
  readonly identities: readonly SimulatedIdentity[];
  /** New connections a second in the beginning: a fleet that starts is no storm. */
  readonly connectsPerSecond: number;
}

/** What a fleet has lived through so far. */
export interface FleetCounts {
  /** Agents that are welcome now. */
  readonly connected: number;
  readonly commands: number;
  /** Upgrades that were really done. */
  readonly upgrades: number;
  /** Upgrades that were done a second time. */
  readonly doubled: number;
}

/** Since the last time they were asked for. */
export interface FleetSamples {
  /** Of heartbeats, milliseconds. */
  readonly roundTrips: readonly number[];
  /** Moments of connects that began, of welcomes, milliseconds since the epoch. */
  readonly connectsAt: readonly number[];
  readonly welcomesAt: readonly number[];
  /** Moments when a gateway sent one away. */
  readonly awaysAt: readonly number[];
  /** First arrival of each command. */
  readonly commandsAt: readonly { readonly commandId: string; readonly at: number }[];
  /** When an agent first said that a command has come to a phase: `<command id> <phase>`. */
  readonly phasesAt: readonly { readonly phase: string; readonly at: number }[];
}

/** Agents that live in this process. */
export class SimulatedFleet {
  readonly agents: readonly SimulatedAgent[];
  readonly #perSecond: number;
  readonly #seen = new Set<string>();
  #connected = 0;
  #stopped = false;
  #samples = noSamples();

  constructor({ identities, connectsPerSecond, ...parts }: FleetOptions) {
    this.#perSecond = connectsPerSecond;
    const watch = {
      connecting: () => void this.#samples.connectsAt.push(Date.now()),
      welcomed: () => {
        this.#connected += 1;
        this.#samples.welcomesAt.push(Date.now());
      },
      sentAway: () => void this.#samples.awaysAt.push(Date.now()),
      lost: () => {
        this.#connected -= 1;
      },
      roundTrip: (ms: number) => void this.#samples.roundTrips.push(ms),
      command: (_: string, { commandId }: Command) => {
        if (this.#seen.has(commandId)) return;
        this.#seen.add(commandId);
        this.#samples.commandsAt.push({ commandId, at: Date.now() });
      },
      phase: (commandId: string, phase: string) =>
        void this.#samples.phasesAt.push({ phase: `${commandId} ${phase}`, at: Date.now() }),
    };
    this.agents = identities.map((identity, turn) => new SimulatedAgent(identity, { ...parts, watch }, turn));
  }

  /** Starts all agents; they may not be connected yet when it answers. */
  async start(): Promise<void> {
    const began = performance.now();
    for (const [index, agent] of this.agents.entries()) {
      const due = began + (index / this.#perSecond) * 1000;
      if (due > performance.now() + 5) await sleep(due - performance.now());
      if (this.#stopped) return;
      agent.start();
    }
  }

  counts(): FleetCounts {
    const done = this.agents.flatMap((agent) => [...agent.done.values()]);
    return {
      connected: this.#connected,
      commands: this.#seen.size,
      upgrades: done.filter(({ times }) => times > 0).length,
      doubled: done.filter(({ times }) => times > 1).length,
    };
  }

  takeSamples(): FleetSamples {
    const taken = this.#samples;
    this.#samples = noSamples();
    return taken;
  }

  stop(): void {
    this.#stopped = true;
    for (const agent of this.agents) agent.stop();
  }
}

function noSamples() {
  return {
    roundTrips: [] as number[],
    connectsAt: [] as number[],
    welcomesAt: [] as number[],
    awaysAt: [] as number[],
    commandsAt: [] as { commandId: string; at: number }[],
    phasesAt: [] as { phase: string; at: number }[],
  };
}
