import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ChildServer } from '@hoodcloud/controlplane/dev/child-server';

interface Member {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** Everything that the demo started; ended in reverse order, and nothing else ever is. */
export class Cast {
  readonly #members: Member[] = [];
  readonly #logs: string;

  constructor(logs: string) {
    this.#logs = logs;
    mkdirSync(logs, { recursive: true });
  }

  /** Starts a program whose output goes to `<name>.log`. */
  start(name: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildServer {
    const server = new ChildServer({ name, program, args, env, logFile: join(this.#logs, `${name}.log`) });
    this.add(name, () => server.stop('SIGTERM', 30_000));
    return server;
  }

  /** Takes note of something that must be ended with the demo. */
  add(name: string, stop: () => Promise<void>): void {
    this.#members.push({ name, stop });
  }

  /** Ends all, the latest first; one that fails to end keeps no other from it. @throws AggregateError afterwards */
  async stop(): Promise<void> {
    const failures: Error[] = [];
    for (const { name, stop } of this.#members.splice(0).reverse()) {
      await stop().catch((cause: unknown) => failures.push(new Error(`${name} could not be ended`, { cause })));
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join('; '));
  }
}
