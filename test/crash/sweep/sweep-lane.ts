import { installWatcher, watchReport } from '../host-watcher.ts';
import type { Adapter } from '../runtimes.ts';
import type { Release } from '../small-service.ts';
import type { WatchReport } from '../watch-instances.ts';
import { diskChangeOf } from './disk-change.ts';
import { lostByPowerCut } from './durable-renames.ts';
import { type KnownState, runHarmed } from './harmed-run.ts';
import { type CallSite, callSites, everyHarm, type HarmedCall, nameOfHarm } from './injection.ts';
import { SweepHost } from './sweep-host.ts';

/** Broken rules after which a host is not harmed any further. */
const ENOUGH = 10;
/** Runs in which a call may fail to come: how often a service's state is written depends on when its loop is met. */
const TRIES = 5;

/** Where the agent changes what outlives its process; what it knows of an image is written once in an image's life. */
const matters = (path: string) =>
  /^\/(etc|opt|var|run\/systemd)\//.test(path) && !/^\/var\/log\/|\/\.?images\.json/.test(path);
/**
 * What a power cut must not lose: not what the kernel keeps in memory anyway, and not a backup that is being removed. One
 * that is half removed is none (A12, A13).
 */
const isNeeded = (path: string) => !/^\/(proc|dev|sys|run)\/|\/\.upgrade-backup\/kept-/.test(path);

export type Direction = 'upgrade' | 'undo';

/** What one direction under one runtime came to. */
export interface SweepReport {
  /** Mutating system calls of one run. */
  readonly calls: number;
  /** What can happen to them, and how much of it was done. */
  readonly harms: number;
  readonly runs: number;
  readonly seconds: number;
  /** What a power cut would lose, a sentence each. */
  readonly lost: readonly string[];
  /** Harms after which a rule was broken, each with what was seen. */
  readonly broken: readonly string[];
}

interface SweepPlan {
  readonly good: readonly [Release, Release];
  readonly bad: Release;
  /** Which of all harms are done. */
  readonly choose: (all: readonly HarmedCall[]) => readonly HarmedCall[];
}

/** One host under one runtime, whose agent is harmed at one system call after another. */
export class SweepLane {
  readonly #host: SweepHost;
  readonly #plan: SweepPlan;
  #states: readonly [KnownState, KnownState];
  #installed: KnownState;
  /** Calls of an upgrade that fails, before it turns round. */
  #forwardCalls = 0;

  private constructor(host: SweepHost, plan: SweepPlan, first: KnownState) {
    this.#host = host;
    this.#plan = plan;
    this.#states = [first, { release: plan.good[1], snapshot: {} }];
    this.#installed = first;
  }

  static async open(open: Parameters<typeof SweepHost.open>, plan: SweepPlan): Promise<SweepLane> {
    const host = await SweepHost.open(...open);
    await installWatcher(host.host);
    return new SweepLane(host, plan, { release: plan.good[0], snapshot: await host.snapshot() });
  }

  get adapter(): Adapter {
    return this.#host.adapter;
  }

  /** Runs once without harm, and then once for each chosen harm. */
  async sweep(direction: Direction): Promise<SweepReport> {
    const began = performance.now();
    const { sites, lost } = direction === 'upgrade' ? await this.#traceUpgrade() : await this.#traceUndo();
    const all = everyHarm(sites);
    const chosen = this.#plan.choose(all);
    const broken: string[] = [];
    let runs = 0;
    for (const harmed of chosen) {
      if (broken.length >= ENOUGH) break;
      const violations = await this.#harm(direction, harmed);
      runs += 1;
      if (violations.length > 0) broken.push([nameOfHarm(harmed), ...violations].join('\n  '));
    }
    const seconds = (performance.now() - began) / 1000;
    return { calls: sites.length, harms: all.length, runs, seconds, lost, broken };
  }

  /** Until the call has come and was harmed. @returns broken rules */
  async #harm(direction: Direction, harmed: HarmedCall): Promise<readonly string[]> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { installed, happened, violations } = await runHarmed(this.#host, this.#run(direction), harmed);
      this.#installed = installed;
      if (happened || violations.length > 0) return violations;
    }
    return [`the call came in none of ${TRIES} runs, so nothing was tried`];
  }

  watched(): Promise<WatchReport> {
    return watchReport(this.#host.host);
  }

  async #traceUpgrade(): Promise<{ sites: CallSite[]; lost: string[] }> {
    const [, { release }] = this.#states;
    const { sites, lost } = await this.#trace(release, 'OUTCOME_COMPLETED');
    await this.#host.confirm(release);
    this.#installed = { release, snapshot: await this.#host.snapshot() };
    this.#states = [this.#states[0], this.#installed];
    const started = sites.findLastIndex(({ path }) => /\/hold(\/|$)/.test(path));
    this.#forwardCalls = started + 1;
    return { sites, lost };
  }

  /** Only what comes after the start of the bad release: the calls before it are those of an upgrade. */
  async #traceUndo(): Promise<{ sites: CallSite[]; lost: string[] }> {
    const { sites, lost } = await this.#trace(this.#plan.bad, 'OUTCOME_ROLLED_BACK');
    return { sites: sites.slice(this.#forwardCalls), lost };
  }

  async #trace(to: Release, wanted: string): Promise<{ sites: CallSite[]; lost: string[] }> {
    await this.#host.forgetRuns();
    const { outcome, calls } = await this.#host.trace(this.#host.order(to));
    if (outcome.results.at(-1)?.outcome !== wanted) throw new Error(`it did not end ${wanted}: ${outcome.said}`);
    const changes = calls.flatMap((call) => diskChangeOf(call) ?? []);
    return { sites: callSites(calls, matters), lost: lostByPowerCut(changes, { isKept: isNeeded }) };
  }

  #run(direction: Direction): Parameters<typeof runHarmed>[1] {
    const from = this.#installed;
    if (direction === 'undo') return { from, to: null, order: this.#plan.bad };
    const to = this.#states.find(({ release }) => release !== from.release) ?? this.#states[1];
    return { from, to, order: to.release };
  }
}
