import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isAlive } from '../host/process-table.ts';
import { scrapeMetrics } from '../metrics-scrape.ts';
import { type Activation, judgeActivation, type NodeSight, readPlanFile } from './activation-trigger.ts';
import type { Component } from './component.ts';
import type { StagedOrder, StagedOrders } from './staged-orders.ts';
import { activationOf } from './staging.ts';

const FAR_MS = 2_000;
const NEAR_MS = 100;
/** So many blocks before the height every block counts. */
const NEAR_BLOCKS = 30;
const SCRAPE_MS = 1_000;

export interface WatchedComponent extends Component {
  readonly metricsUrl: string | null;
}

export interface ActivationWatchParts {
  readonly orders: StagedOrders;
  readonly components: readonly WatchedComponent[];
  /** Carries the staged order out, unless it was taken back meanwhile. */
  readonly activate: (order: StagedOrder) => Promise<void>;
  /** Tells the control plane of a plan that is not ours; once for each. */
  readonly tellOtherPlan: (order: StagedOrder, message: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Logger;
}

/** What is remembered of a component between looks. */
interface Remembered {
  height: number | null;
  mainPid: number | null;
  mainPidStartedAt: number | null;
  told: string | null;
}

/**
 * Watches the nodes of armed orders and swaps at once when their height has come: on the host alone, since a chain that
 * stands must not wait for a control plane that may be out of reach.
 */
export class ActivationWatch {
  readonly #parts: ActivationWatchParts;
  readonly #remembered = new Map<string, Remembered>();

  constructor(parts: ActivationWatchParts) {
    this.#parts = parts;
  }

  /** Until the signal aborts; trouble with one look is logged and looked at again. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waits = await Promise.all(this.#parts.components.map((component) => this.#lookSafely(component)));
      await sleep(Math.min(FAR_MS, ...waits), undefined, { signal }).catch(() => undefined); // only the signal ends it early
    }
  }

  async #lookSafely(component: WatchedComponent): Promise<number> {
    try {
      return await this.#look(component);
    } catch (error) {
      this.#parts.log.warn({ err: error, component: component.binaryName }, 'an armed upgrade could not be looked at');
      return FAR_MS;
    }
  }

  /** @returns milliseconds until it is worth looking again */
  async #look(component: WatchedComponent): Promise<number> {
    const { orders, activate, tellOtherPlan, now, log } = this.#parts;
    const order = await orders.of(component.binaryName);
    const activation = order && activationOf(order);
    if (!order || !activation) {
      this.#remembered.delete(component.binaryName);
      return FAR_MS;
    }
    const memory = await this.#memoryOf(component);
    const seen = await see(component, activation, order, memory);
    const verdict = judgeActivation(activation, seen, now());
    if (verdict.kind === 'other_plan' && memory.told !== verdict.message) {
      memory.told = verdict.message;
      log.error({ component: component.binaryName, attempt: order.attemptId }, verdict.message);
      tellOtherPlan(order, verdict.message);
    }
    if (verdict.kind === 'lapsed') return FAR_MS;
    if (verdict.kind !== 'swap' && seen.endedByItself) await this.#followSuccessor(component, memory);
    if (verdict.kind !== 'swap') return isNear(activation, seen) ? NEAR_MS : FAR_MS;
    log.info({ component: component.binaryName, attempt: order.attemptId, why: verdict.why }, 'the height has come');
    this.#remembered.delete(component.binaryName);
    await activate(order);
    return FAR_MS;
  }

  /** A node that was restarted before the height is watched on; one that is down stays the one that ended. */
  async #followSuccessor({ runtime }: WatchedComponent, memory: Remembered): Promise<void> {
    const { mainPid, mainPidStartedAt } = await runtime.status();
    if (mainPid !== null) Object.assign(memory, { mainPid, mainPidStartedAt });
  }

  async #memoryOf({ binaryName, runtime }: WatchedComponent): Promise<Remembered> {
    const known = this.#remembered.get(binaryName);
    if (known) return known;
    const { mainPid, mainPidStartedAt } = await runtime.status();
    const memory = { height: null, mainPid, mainPidStartedAt, told: null };
    this.#remembered.set(binaryName, memory);
    return memory;
  }
}

async function see(
  { metricsUrl, dataDir }: WatchedComponent,
  { heightMetric, planName }: Activation,
  { stagedAtMs }: StagedOrder,
  memory: Remembered,
): Promise<NodeSight> {
  if (planName !== null) {
    const plan = await readPlanFile(dataDir, stagedAtMs);
    return { height: memory.height, endedByItself: false, plan };
  }
  const { mainPid: pid, mainPidStartedAt: startedAt } = memory;
  const endedByItself = pid !== null && startedAt !== null && !(await isAlive({ pid, startedAt }));
  const height = endedByItself ? null : await readHeight(metricsUrl, heightMetric);
  memory.height = height ?? memory.height;
  return { height: memory.height, endedByItself, plan: null };
}

async function readHeight(url: string | null, metric: string | null): Promise<number | null> {
  if (url === null || metric === null) return null;
  const { samples } = await scrapeMetrics(url, [metric], SCRAPE_MS);
  const [sample] = samples;
  return sample === undefined ? null : Math.floor(sample.value);
}

/** A plan is written at a height that only the node knows, so its file is looked for all the time: that is cheap. */
function isNear({ height, planName }: Activation, seen: NodeSight): boolean {
  return planName !== null || (seen.height !== null && height - seen.height <= NEAR_BLOCKS);
}
