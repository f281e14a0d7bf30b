import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HostLabError } from './lab-command.ts';
import type { Bind, Host } from './lab-host.ts';

/** This checkout's folder; hosts see it under the same path, so that paths in failures can be followed. */
export const CHECKOUT = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');

/** Makes the checkout visible to a host, read-only; of a copy for mutants, whose libraries are links, the original too. */
export const CHECKOUT_BINDS: readonly Bind[] = [CHECKOUT, checkoutOfLibraries()]
  .filter((folder, index, all) => all.indexOf(folder) === index)
  .map((folder) => ({ source: folder, target: folder }));

const RUNNER = fileURLToPath(new URL('./run-vitest-inside.ts', import.meta.url));

/** One test that ran inside a host. */
export interface InsideTest {
  readonly name: string;
  readonly passed: boolean;
  readonly failure: string;
  readonly durationMs: number;
}

/**
 * Runs a file of tests (`*.inside.ts`) by vitest inside a host that has `CHECKOUT_BINDS`, for code that must itself be on
 * the host: it looks at /proc, at files and at systemd as the agent does.
 * @throws HostLabError when vitest itself could not run
 */
export async function vitestInside(host: Host, file: string): Promise<InsideTest[]> {
  const command = ['node', '--import', 'tsx', RUNNER, relative(CHECKOUT, file)];
  const outcome = await host.exec('env', '-C', CHECKOUT, ...command);
  const report = outcome.stdout.split('\n').find((line) => line.startsWith('{"numTotalTestSuites"'));
  if (report === undefined)
    throw new HostLabError(`vitest did not run inside ${host.name}: ${outcome.stderr}${outcome.stdout}`);
  const { testResults } = JSON.parse(report) as VitestReport;
  return testResults.flatMap(({ message, assertionResults }) => {
    if (assertionResults.length === 0) return [{ name: file, passed: false, failure: message, durationMs: 0 }];
    return assertionResults.map(({ fullName, status, failureMessages, duration }) => ({
      name: fullName,
      passed: status === 'passed',
      failure: failureMessages.join('\n'),
      durationMs: Math.round(duration ?? 0),
    }));
  });
}

/** The folder whose `node_modules` holds vitest itself. */
function checkoutOfLibraries(): string {
  return realpathSync(join(CHECKOUT, 'node_modules/vitest')).replace(/\/node_modules\/.*$/, '');
}

/** The part of vitest's JSON report that is read. */
interface VitestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
      readonly duration?: number;
    }[];
  }[];
}
