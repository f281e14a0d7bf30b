import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, type StartOptions } from '../runtime/runtime-adapter.ts';
import { SystemdAdapter, type SystemdComponent } from '../runtime/systemd/systemd-adapter.ts';
import type { SystemdParts } from '../runtime/systemd/systemd-service.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import { HandedOrders } from './handed-order.ts';
import { hadSession } from './session-mark.ts';

const POLL_MS = 200;

/**
 * The agent as a component of its host. Its unit's other processes are supervisors of nodes, which outlive it; and a new
 * agent that merely stays up is no proof: it has to come back to its control plane, or nobody could ever order anything
 * on this host again (field-case 126).
 */
export class AgentAdapter extends SystemdAdapter {
  readonly #stateDir: string;

  constructor(component: Omit<SystemdComponent, 'childrenStay'>, parts: SystemdParts, stateDir: string) {
    super({ ...component, childrenStay: true }, parts);
    this.#stateDir = stateDir;
  }

  /** @throws RuntimeError `agent_not_back` too, when a new agent has no session by the end of the budget */
  override async start(options: StartOptions): Promise<void> {
    await super.start(options);
    if (await this.#mustProveItself()) await this.#untilBack(options.signal);
  }

  /** On the way back the old agent only has to run: that its control plane is away is no reason to give up on it. */
  async #mustProveItself(): Promise<boolean> {
    const attemptId = (await new HandedOrders(this.#stateDir).order())?.command.upgrade?.attemptId;
    if (attemptId === undefined) return false; // an operator's own start
    const store = await AttemptStore.open(this.#stateDir, () => undefined);
    return (await store.load(attemptId))?.progress.direction === 'forward';
  }

  async #untilBack(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { state, mainPid, mainPidStartedAt } = await this.status();
      if (mainPid !== null && (await hadSession(this.#stateDir, mainPid, mainPidStartedAt ?? 0))) return;
      if (state !== 'running' || signal.aborted) {
        throw new RuntimeError(
          'agent_not_back',
          `the new agent was started (it is ${state}) but did not come back to its control plane within its start budget; see its log`,
        );
      }
      await sleep(POLL_MS);
    }
  }
}
