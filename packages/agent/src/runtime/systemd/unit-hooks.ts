import { plainEnvironment } from '../../host/program-call.ts';
import { type CommandEnd, runCommand } from '../../host/run-command.ts';
import type { HookCall, HookRunner } from '../hook-contract.ts';
import { type HookPlaces, requireAllowed, withPlaces } from '../hook-runner.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { runtimeDirOf } from './manager-scope.ts';
import type { Systemctl } from './systemctl.ts';
import { sandboxAssignments, UNIT_SANDBOX } from './unit-sandbox.ts';

/** A step is asked to end, then killed; the client of systemd gets a little longer than that. */
const STOP_SECONDS = 3;
const CLIENT_MS = 6_000;
const ASK_MS = 30_000;
/** Never loaded: shows what a unit that says nothing gets. */
const UNSAID = 'hoodcloud-says-nothing.service';

/** Runs steps of the vendor as transient units that get the user, environment, sandbox and limits of the node's own unit. */
export class UnitHooks implements HookRunner {
  readonly #unit: string;
  readonly #places: HookPlaces;
  readonly #systemctl: Systemctl;

  constructor(unit: string, places: HookPlaces, systemctl: Systemctl) {
    this.#unit = unit;
    this.#places = places;
    this.#systemctl = systemctl;
  }

  check(command: readonly string[]): void {
    requireAllowed(command, this.#places);
  }

  async run({ name, command, timeoutMs }: HookCall, signal: AbortSignal): Promise<CommandEnd> {
    const hookUnit = this.#hookUnit(name);
    const settings = [
      ...(await this.#sandbox()),
      `RuntimeMaxSec=${timeoutMs}ms`,
      `TimeoutStopSec=${STOP_SECONDS}`,
      `Description=Step ${name} of the vendor for ${this.#unit}`,
    ].flatMap((setting) => ['-p', setting]);
    const { user } = this.#systemctl.scope;
    const how = ['--quiet', '--wait', '--pipe', '--collect', '--service-type=exec', `--unit=${hookUnit}`];
    const began = performance.now();
    const end = await runCommand(
      {
        program: 'systemd-run',
        args: [...(user === null ? [] : ['--user']), ...how, ...settings, '--', ...withPlaces(command, this.#places)],
        env: { ...plainEnvironment(), ...(user && { XDG_RUNTIME_DIR: runtimeDirOf(user) }) },
        cwd: '/',
        ...(user && { uid: user.uid, gid: user.gid }),
        timeoutMs: timeoutMs + CLIENT_MS,
      },
      signal,
    );
    if (end.timedOut) await this.end(name); // the client is gone, its unit isn't
    return { ...end, timedOut: end.timedOut || (end.code !== 0 && performance.now() - began >= timeoutMs) };
  }

  async end(name: string): Promise<void> {
    const unit = this.#hookUnit(name);
    const { code, stderr } = await this.#systemctl.run('stop', unit, AbortSignal.timeout(ASK_MS));
    if (code === 0 || /not loaded|not found/.test(stderr)) return;
    throw new RuntimeError('hook_still_running', `${unit} could not be stopped: ${stderr.trim()}`);
  }

  #hookUnit(name: string): string {
    return `hoodcloud-hook-${this.#unit.replace(/\.service$/, '')}-${name}.service`;
  }

  /** What the node's unit says otherwise than a unit that says nothing. */
  async #sandbox(): Promise<string[]> {
    const args = ['show', '--no-pager', '-p', UNIT_SANDBOX.join(','), '--', this.#unit, UNSAID];
    const { code, stdout, stderr } = await this.#systemctl.call('systemctl', args, AbortSignal.timeout(ASK_MS));
    const [own, unsaid] = stdout.split('\n\n');
    if (code !== 0 || own === undefined || unsaid === undefined) {
      throw new RuntimeError('systemd_unreachable', `systemd does not tell how ${this.#unit} is set up: ${stderr}`);
    }
    return sandboxAssignments(this.#unit, own, unsaid);
  }
}
