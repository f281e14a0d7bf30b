import { differences, type Snapshot } from '../host-view.ts';
import type { Release } from '../small-service.ts';
import { type HarmedCall, straceArguments } from './injection.ts';
import { ATTEMPT, type DriveOutcome, type SweepHost, type ToldResult } from './sweep-host.ts';

/** A release, and the whole host as it is when everything is of that release. */
export interface KnownState {
  readonly release: Release;
  readonly snapshot: Snapshot;
}

interface Run {
  readonly from: KnownState;
  /** Null: a release that ends at once, so that the agent goes back. */
  readonly to: KnownState | null;
  readonly order: Release;
}

/** What a harmed run came to. */
export interface HarmedOutcome {
  readonly installed: KnownState;
  /** The harm was done; otherwise the call did not come in this run, and nothing was tried. */
  readonly happened: boolean;
  /** Broken rules, a sentence each; none is what a test wants. */
  readonly violations: readonly string[];
}

/** Lives that the agent is given to settle, the harmed one included. */
const MAX_LIVES = 4;

/**
 * Harms one system call of a run, lets the agent come back as its service manager and its control plane do (it is started
 * again, and a command without a result is given again), and judges what the host shows: one release whole, one process,
 * nothing left over, and an outcome that says just that.
 */
export async function runHarmed(host: SweepHost, run: Run, harmed: HarmedCall): Promise<HarmedOutcome> {
  await host.forgetRuns();
  const order = host.order(run.order);
  const { happened, ...first } = await host.harm(order, straceArguments(harmed.site, harmed.harm));
  const lives: DriveOutcome[] = [first];
  let result = resultOf(lives);
  while ((result === undefined || (await host.openOperations()).length > 0) && lives.length < MAX_LIVES) {
    lives.push(await host.drive(order));
    result = resultOf(lives);
  }
  const told = outcomesOf(lives);
  if (result?.outcome === 'OUTCOME_FAILED_ROLLBACK') {
    // a disk that refuses an undo needs a person; told so, and given the order again, the agent finishes it
    lives.push(await host.drive(host.order(run.order, 'COMPENSATE')));
    result = resultOf(lives, 'COMPENSATE');
  }
  if (result?.outcome === 'OUTCOME_COMPLETED') await host.confirm(run.order);
  return judge(host, run, { result, told, lives, happened });
}

interface Told {
  readonly result: ToldResult | undefined;
  /** Different outcomes of the one command. */
  readonly told: readonly string[];
  readonly lives: readonly DriveOutcome[];
  /** The harm was done. */
  readonly happened: boolean;
}

async function judge(
  host: SweepHost,
  { from, to }: Run,
  { result, told, lives, happened }: Told,
): Promise<HarmedOutcome> {
  const violations: string[] = [];
  const wanted = result?.outcome === 'OUTCOME_COMPLETED' && to !== null ? to : from;
  const endings = to === null ? ['OUTCOME_ROLLED_BACK'] : ['OUTCOME_COMPLETED', 'OUTCOME_ROLLED_BACK'];
  if (!endings.includes(result?.outcome ?? '')) violations.push(`it ended ${result?.outcome ?? 'without a result'}`);
  if (told.length > 1) violations.push(`it told different outcomes: ${told.join(', ')}`);
  const last = lives.at(-1);
  if (last?.code !== 0) violations.push(`the agent ended with ${last?.code} when it came back`);
  violations.push(...(await host.openOperations()).map((open) => `${open} is open still`));
  violations.push(...(await judgeHost(host, wanted)));
  if (result !== undefined && result.runningChecksum !== wanted.release.checksum) {
    violations.push(`the result says that ${result.runningChecksum ?? 'nothing'} runs`);
  }
  if (violations.length > 0) violations.push(...lives.map(({ said }, life) => `life ${life + 1} said: ${said}`));
  return { installed: wanted, happened, violations };
}

/** The host is all of one release. */
async function judgeHost(host: SweepHost, { release, snapshot }: KnownState): Promise<string[]> {
  const found: string[] = [];
  const instances = await host.view.instances();
  if (instances.length !== 1) found.push(`${instances.length} instances run`);
  for (const { executable, version } of instances) {
    if (executable !== release.executable) found.push(`${executable} runs, which is not of ${release.version}`);
    if (version !== null && version !== release.version) found.push(`it was started with the definition of ${version}`);
  }
  found.push(...(await host.view.leftovers()).map((path) => `${path} was left over`));
  return [...found, ...differences(snapshot, await host.snapshot())];
}

function resultOf(lives: readonly DriveOutcome[], operation = 'UPGRADE'): ToldResult | undefined {
  return lives
    .flatMap(({ results }) => results)
    .filter(({ commandId }) => commandId === `${ATTEMPT}-${operation}`)
    .at(-1);
}

function outcomesOf(lives: readonly DriveOutcome[]): string[] {
  return [...new Set(lives.flatMap(({ results }) => results).map(({ outcome }) => outcome))];
}
