import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FleetCounts, FleetOptions, FleetSamples } from './simulated-fleet.ts';

const PROGRAM = fileURLToPath(new URL('./fleet-program.ts', import.meta.url));

/** What the program is asked, one at a time. */
export type FleetRequest =
  | { readonly ask: 'start'; readonly options: FleetOptions }
  | { readonly ask: 'counts' }
  | { readonly ask: 'samples' }
  /** `sha256:<hex>` by node id. */
  | { readonly ask: 'running' };

/** A fleet in a process of its own: what it costs is not taken for what the control plane costs. A process has file handles for some 19,000 agents. */
export class FleetProcess {
  readonly #child: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Answers when every agent has begun to connect. */
  static async start(options: FleetOptions): Promise<FleetProcess> {
    const child = fork(PROGRAM, [], { execArgv: ['--import', 'tsx', '--max-old-space-size=6144'] });
    const fleet = new FleetProcess(child);
    try {
      await fleet.#ask({ ask: 'start', options });
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  counts(): Promise<FleetCounts> {
    return this.#ask({ ask: 'counts' }) as Promise<FleetCounts>;
  }

  takeSamples(): Promise<FleetSamples> {
    return this.#ask({ ask: 'samples' }) as Promise<FleetSamples>;
  }

  /** What each agent's node runs: `sha256:<hex>` by node id. */
  running(): Promise<Record<string, string>> {
    return this.#ask({ ask: 'running' }) as Promise<Record<string, string>>;
  }

  /** Every agent is cut off, as by a power cut. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  #ask(request: FleetRequest): Promise<unknown> {
    const answer = this.#last.catch(() => undefined).then(() => this.#exchange(request));
    this.#last = answer;
    return answer;
  }

  async #exchange(request: FleetRequest): Promise<unknown> {
    const left = new AbortController();
    const { signal } = left;
    try {
      const answered = once(this.#child, 'message', { signal });
      const gone = once(this.#child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the fleet's process ended with ${code}`);
      });
      this.#child.send(request);
      const [answer] = (await Promise.race([answered, gone])) as [{ error?: string; value?: unknown }];
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer.value;
    } finally {
      left.abort();
    }
  }
}
