import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isAlive, isSameProcess, type ProcessIdentity, readProcess } from '../../host/process-table.ts';
import { RuntimeError, type RuntimeStatus, type StartOptions } from '../runtime-adapter.ts';
import { tellingLine } from '../telling-line.ts';
import type { RestartPolicy } from './container-inspect.ts';
import { containerLog } from './container-log.ts';
import { containerState } from './container-state.ts';
import type { ContainerView, Engine } from './engine.ts';
import { EngineError } from './engine-error.ts';
import type { Instances } from './instances.ts';
import { isNo, NO_RESTART, policyOf, setRestartPolicy } from './restart-policy.ts';
import type { ServiceRecord, ServiceRecordFile } from './service-record.ts';
import { clearStaleNeighbours } from './stale-neighbour.ts';
import { startFailed, watchStart } from './start-watch.ts';

const POLL_MS = 50;
const LOG_LINES = 200;

interface Look {
  /** Null between the renames of a swap: the name stands for nothing then. */
  readonly view: ContainerView | null;
  readonly record: ServiceRecord;
  readonly main: ProcessIdentity | null;
  readonly state: RuntimeStatus['state'];
}

/** Starts, stops, holds and watches the container of one name: the half of the adapter that has nothing to do with images. */
export class ContainerService {
  readonly name: string;
  readonly #engine: Engine;
  readonly #instances: Instances;
  readonly #record: ServiceRecordFile;
  /** Our own call is still waiting for the container to end. */
  #stopping: Promise<void> | null = null;

  constructor(parts: {
    readonly name: string;
    readonly engine: Engine;
    readonly instances: Instances;
    readonly record: ServiceRecordFile;
  }) {
    this.name = parts.name;
    this.#engine = parts.engine;
    this.#instances = parts.instances;
    this.#record = parts.record;
  }

  /** @param checksumOf digest of the image that a container was made from */
  async status(checksumOf: (view: ContainerView) => Promise<string | null>): Promise<RuntimeStatus> {
    const { view, record, main, state } = await this.#look();
    const installedChecksum = view === null ? null : await checksumOf(view);
    const alive = view !== null && (state === 'running' || state === 'stopping');
    return {
      state,
      wantedRunning: state === 'running' || state === 'waiting_restart',
      held: isHeld(record, view),
      mainPid: alive ? view.State.Pid : null,
      mainPidStartedAt: alive ? (main?.startedAt ?? null) : null,
      restarts: view?.RestartCount ?? 0,
      runningChecksum: alive ? installedChecksum : null,
      installedChecksum,
    };
  }

  /** The operator's policy is written down before it is taken away: a crash in between loses nothing. */
  async hold(): Promise<void> {
    const { view, record, main } = await this.#look();
    await this.#record.change({
      heldPolicy: view === null ? (record.heldPolicy ?? NO_RESTART) : await this.operatorsPolicy(view),
      owedPolicy: null,
      processes: await this.#with(record, main),
    });
    if (view !== null) await setRestartPolicy(this.#engine, view, NO_RESTART);
  }

  /** A container that is about to take the old one's place is made without a restart policy: this is the one to give it. */
  async holdSuccessor(policy: RestartPolicy): Promise<void> {
    if ((await this.#record.read()).heldPolicy === null) await this.#record.change({ heldPolicy: policy });
  }

  /** The policy comes back before the mark goes, for the same reason. */
  async release(): Promise<void> {
    const { view, record } = await this.#look();
    const policy = record.heldPolicy;
    if (policy === null) return;
    if (view !== null && neverRan(view) && !isNo(policy)) {
      await this.#record.change({ heldPolicy: null, owedPolicy: { containerId: view.Id, policy } });
      return;
    }
    if (view !== null) await setRestartPolicy(this.#engine, view, policy);
    await this.#record.change({ heldPolicy: null });
  }

  /** Gives a container that was left stopped the policy that it is owed, once its operator has started it. */
  async payOwedPolicy(): Promise<void> {
    const { owedPolicy } = await this.#record.read();
    if (owedPolicy === null) return;
    const view = await this.#engine.container(owedPolicy.containerId);
    if (view !== null && neverRan(view)) return;
    if (view !== null) await setRestartPolicy(this.#engine, view, owedPolicy.policy);
    await this.#record.change({ owedPolicy: null });
  }

  /** The restart policy that the operator has given the container, whatever the agent has made of it for now. */
  async operatorsPolicy(view: ContainerView): Promise<RestartPolicy> {
    const { heldPolicy, owedPolicy } = await this.#record.read();
    if (owedPolicy?.containerId === view.Id) return owedPolicy.policy;
    return isNo(policyOf(view)) ? (heldPolicy ?? policyOf(view)) : policyOf(view);
  }

  async leave(): Promise<void> {
    const { heldPolicy, owedPolicy } = await this.#record.read();
    const policy = heldPolicy ?? owedPolicy?.policy;
    const view = policy === undefined ? null : await this.#engine.container(this.name);
    if (view !== null && policy !== undefined) await setRestartPolicy(this.#engine, view, policy);
    await this.#record.remove();
  }

  async start(options: StartOptions): Promise<void> {
    const found = await this.#look();
    const runs = found.state === 'running' || found.state === 'waiting_restart';
    if (runs) await this.release();
    else await this.#launch(found, options.signal);
    const saidLast = async () => tellingLine(await this.logTail(LOG_LINES));
    const restartsBefore = runs ? (found.view?.RestartCount ?? 0) : 0;
    await watchStart(this.name, () => this.#require(), { ...options, restartsBefore }, saidLast);
  }

  async stop(signal: AbortSignal): Promise<void> {
    const { view, state, main, record } = await this.#look();
    if (view === null || state === 'stopped') return;
    // written before it is asked: whoever comes after us must not take a container that is ending for one that runs
    await this.#record.change({ askedToStop: runOf(view), processes: await this.#with(record, main) });
    this.#ask(view);
    try {
      await endedOrAborted(this.#stopping ?? Promise.resolve(), signal);
      await this.#untilGone(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const sentence = `${this.name} has not stopped within its budget; it is not killed and goes on stopping by itself`;
      throw new RuntimeError('stop_overrun', sentence, { cause: error });
    }
  }

  async waitUntilGone(signal: AbortSignal): Promise<void> {
    const { view, state } = await this.#look();
    // an agent that died between its note and its order must not wait for a container that was never told
    if (view !== null && state === 'stopping' && this.#stopping === null && !(await this.#wasTold(view)))
      this.#ask(view);
    await this.#untilGone(signal);
  }

  async logTail(maxLines: number): Promise<string[]> {
    const { view, record } = await this.#look();
    if (view === null) return [];
    const tty = view.Config.Tty === true;
    return containerLog(this.#engine, { id: view.Id, tty }, maxLines, record.startedAtMs);
  }

  async #launch(found: Look, signal: AbortSignal): Promise<void> {
    await this.#requireFence(found);
    const view = found.view ?? (await this.#require());
    await setRestartPolicy(this.#engine, view, await this.operatorsPolicy(view));
    await this.#record.change({
      heldPolicy: null,
      owedPolicy: null,
      processes: [],
      askedToStop: null,
      startedAtMs: Date.now(),
    });
    try {
      await this.#engine.call(`start ${this.name}`, signal, (docker, options) =>
        docker.getContainer(view.Id).start({ ...options }),
      );
    } catch (error) {
      if (signal.aborted) throw startFailed(this.name, 'it was not up within its time budget');
      if (error instanceof EngineError && error.status !== null) throw startFailed(this.name, error.message);
      throw error;
    }
    await clearStaleNeighbours(this.#engine, await this.#require());
  }

  /** No start beside an instance that lives, or that may come back: two of one validator sign twice (A19). */
  async #requireFence({ state, record, view }: Look): Promise<void> {
    const left = await this.#living(record);
    if (state === 'stopping' || left.length > 0) {
      const pids = left.map(({ pid }) => pid).join(', ');
      throw fenceViolated(this.name, `an earlier instance still lives (pid ${pids || view?.State.Pid})`);
    }
    for (const other of await this.#instances.besides(view?.Id ?? null)) {
      if (other.State.Running) throw fenceViolated(this.name, `the container ${other.Name.slice(1)} still runs`);
      await setRestartPolicy(this.#engine, other, NO_RESTART); // nobody starts it but an undo, which gives its policy back
    }
  }

  /** Without a limit: the engine never kills (A7). The order isn't taken back when the budget ends. */
  #ask({ Id }: ContainerView): void {
    const asked = this.#engine
      .call(`stop ${this.name}`, null, (docker) => docker.getContainer(Id).stop({ t: -1 }), null)
      .catch((error) => {
        if (!(error instanceof EngineError) || error.status !== 304) throw error; // it had ended by itself
      })
      .finally(() => {
        this.#stopping = null;
      });
    asked.catch(() => undefined); // whoever waits for it is told; after an overrun nobody does
    this.#stopping = asked;
  }

  /**
   * Whether the engine has given the container its stop signal since it last started; it remembers the latest events.
   * Asked for whole seconds, it also tells the signal that ended the run before, when that was a moment ago.
   */
  async #wasTold({ Id, State }: ContainerView): Promise<boolean> {
    const startedAtMs = Date.parse(State.StartedAt);
    const since = Math.floor(startedAtMs / 1000);
    const until = Math.ceil(Date.now() / 1000);
    const filters = JSON.stringify({ container: [Id], event: ['kill'] });
    return this.#engine.call(`read the events of ${this.name}`, null, async (docker) => {
      const stream = await docker.getEvents({ since, until, filters });
      const told = (await text(stream)).split('\n').filter((line) => line.trim() !== '');
      return told.some((line) => (JSON.parse(line) as { readonly timeNano: number }).timeNano / 1e6 >= startedAtMs);
    });
  }

  async #untilGone(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { state, record } = await this.#look();
      if (state === 'stopped' && (await this.#living(record)).length === 0) return;
      signal.throwIfAborted();
      await sleep(POLL_MS);
    }
  }

  async #living({ processes }: ServiceRecord): Promise<ProcessIdentity[]> {
    const alive = await Promise.all(processes.map(isAlive));
    return processes.filter((_, index) => alive[index]);
  }

  async #with(record: ServiceRecord, main: ProcessIdentity | null): Promise<ProcessIdentity[]> {
    const known = await this.#living(record);
    return main === null || known.some((other) => isSameProcess(main, other)) ? known : [...known, main];
  }

  async #require(): Promise<ContainerView> {
    const { view } = await this.#look();
    if (view === null) throw this.#notThere();
    return view;
  }

  async #look(): Promise<Look> {
    const [view, record] = await Promise.all([this.#engine.container(this.name), this.#record.read()]);
    if (view === null) {
      if (record.heldPolicy === null) throw this.#notThere();
      return { view, record, main: null, state: 'stopped' };
    }
    const main = view.State.Pid > 0 ? await readProcess(view.State.Pid) : null;
    const asked = isDeepStrictEqual(runOf(view), record.askedToStop);
    return { view, record, main, state: containerState(view, asked) };
  }

  #notThere(): RuntimeError {
    return new RuntimeError(
      'container_not_found',
      `there is no container ${this.name} at ${this.#engine.socketPath}: create it, or correct runtime.container of the agent's configuration`,
    );
  }
}

/** Held is what stays down: the mark alone, with the policy still there, is a hold that a crash cut in two. */
function isHeld(record: ServiceRecord, view: ContainerView | null): boolean {
  return record.heldPolicy !== null && (view === null || isNo(policyOf(view)));
}

function runOf({ Id, State }: ContainerView): ServiceRecord['askedToStop'] {
  return { containerId: Id, startedAt: State.StartedAt };
}

/** Made, and never started. */
function neverRan({ State }: ContainerView): boolean {
  return State.Status === 'created' || State.StartedAt.startsWith('0001-');
}

function fenceViolated(name: string, why: string): RuntimeError {
  return new RuntimeError(
    'fence_violated',
    `${name} is not started: ${why}; wait until it has ended or end it by hand`,
  );
}

/** Settles as the work does, or rejects when the signal aborts first; the work goes on then. */
function endedOrAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
