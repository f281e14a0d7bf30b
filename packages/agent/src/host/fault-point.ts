import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Marks a crash window by name (`before:install_artifact`); nothing happens there outside crash tests. */
export type FaultPoint = (name: string) => Promise<void>;

/** The point of a process that nobody tests. */
export const noFaultPoint: FaultPoint = async () => undefined;

/**
 * For crash tests from outside: at the point that `HOODCLOUD_FAULT` names, one line `<point> <pid>` is appended to the
 * file `HOODCLOUD_FAULT_FILE`, and the process stops itself (SIGSTOP), timers and threads included. The test can kill it
 * exactly in that window, cut the host's power, or do something to its disk or network and let it go on (SIGCONT). A
 * point whose line is in the file already is passed: an agent started again with the same environment isn't caught twice.
 *
 * `HOODCLOUD_FAULT_AFTER_MS` (0) is the time between point and stop. Nobody waits for a `during:` point, so that with it
 * the process stops in the middle of what goes on there.
 */
export function faultPointFromEnvironment(env: NodeJS.ProcessEnv): FaultPoint {
  const { HOODCLOUD_FAULT: wanted, HOODCLOUD_FAULT_FILE: file, HOODCLOUD_FAULT_AFTER_MS: afterMs } = env;
  if (wanted === undefined || wanted === '' || file === undefined) return noFaultPoint;
  return async (name) => {
    if (name !== wanted || wasReached(file, name)) return;
    await sleep(Number(afterMs ?? 0));
    appendFileSync(file, `${name} ${process.pid}\n`, { flush: true });
    process.kill(process.pid, 'SIGSTOP');
  };
}

function wasReached(file: string, name: string): boolean {
  return (
    existsSync(file) &&
    readFileSync(file, 'utf8')
      .split('\n')
      .some((line) => line.startsWith(`${name} `))
  );
}
