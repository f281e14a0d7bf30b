import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Marks a crash window by name (`before:install_artifact`); nothing happens there outside crash tests. */
export type FaultPoint = (name: string) => Promise<void>;

/** The point of a process that nobody tests. */
export const noFaultPoint: FaultPoint = async () => undefined;

/**
 * For crash tests from outside: at the point that `HOODCLOUD_FAULT` names, one line `<point> <pid>` is appended to the
 * file `HOODCLOUD_FAULT_FILE`, and the process stands still there for ever, so that the test can kill it, or cut the
 * host's power, exactly in that window. A point whose line is in the file already is passed: an agent started again
 * with the same environment isn't caught twice.
 */
export function faultPointFromEnvironment(env: NodeJS.ProcessEnv): FaultPoint {
  const { HOODCLOUD_FAULT: wanted, HOODCLOUD_FAULT_FILE: file } = env;
  if (wanted === undefined || wanted === '' || file === undefined) return noFaultPoint;
  return async (name) => {
    if (name !== wanted || wasReached(file, name)) return;
    appendFileSync(file, `${name} ${process.pid}\n`, { flush: true });
    await standStill();
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

/** Never resolves; the timer keeps the process alive when nothing else does. */
function standStill(): Promise<never> {
  return new Promise(() => {
    setInterval(() => undefined, 60_000);
  });
}
