import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Gap } from './port-probe-process.ts';

/** Measures from outside for how long a port stays closed. */
export class PortProbe {
  readonly #child: ChildProcess;
  readonly #gaps: Gap[] = [];
  #onOpen: () => void = () => undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message) => {
      if (message === 'open') this.#onOpen();
      else this.#gaps.push(message as Gap);
    });
  }

  /** Resolves once the port has answered. */
  static async start(host: string, port: number): Promise<PortProbe> {
    const program = fileURLToPath(new URL('./port-probe-process.ts', import.meta.url));
    const child = fork(program, [host, String(port)], { execArgv: ['--import', 'tsx'] });
    const probe = new PortProbe(child);
    await probe.untilOpen();
    return probe;
  }

  /** Resolves once the port answers; every gap before that has been noted by then. */
  async untilOpen(): Promise<void> {
    const open = new Promise<void>((resolve) => {
      this.#onOpen = resolve;
    });
    this.#child.send('is it open?');
    await open;
  }

  /**
   * The time the port was closed while `work` ran, milliseconds. Waits for the port to be open again.
   * @throws Error when the port was closed more than once: then there is no single downtime to report
   */
  async downtimeOf(work: () => Promise<void>): Promise<number> {
    this.#gaps.length = 0;
    await work();
    while (this.#gaps.length === 0) await once(this.#child, 'message');
    const [gap, ...more] = this.#gaps;
    if (gap === undefined || more.length > 0) throw new Error(`the port was closed ${this.#gaps.length} times`);
    return gap.closedMs;
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}
