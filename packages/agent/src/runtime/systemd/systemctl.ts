import { setTimeout as sleep } from 'node:timers/promises';
import { type CallAs, type Called, callProgram } from '../../host/program-call.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { systemUser } from '../system-user.ts';
import { GatheredLooks } from './gathered-looks.ts';
import { MACHINE_SCOPE, type ManagerScope, runtimeDirOf, userScope } from './manager-scope.ts';
import { unitFilesNow } from './unit-files.ts';
import { parseUnit, UNIT_PROPERTIES, type UnitView } from './unit-properties.ts';
import { parseSettings, UNIT_SETTINGS, type UnitSettings } from './unit-settings.ts';
import { readProperties } from './unit-values.ts';

const SHOW_TIMEOUT_MS = 30_000;
const RELOAD_TIMEOUT_MS = 60_000;
/** An order that only has to be queued; a systemd that is reading its files answers late. */
const ORDER_TIMEOUT_MS = 5_000;
const ORDER_AGAIN_MS = 200;

/**
 * One systemd, the machine's or a user's, by `systemctl` with argument arrays. One instance serves every unit of it in an
 * agent, because orders and daemon-reloads are made one at a time: systemd has hung a start that met a reload, and has
 * lost the answer to its client (field-case 57). So no start waits for its client: it is queued, and then looked for.
 */
export class Systemctl {
  readonly scope: ManagerScope;
  readonly #users = new Map<string, Systemctl>();
  readonly #looks = new GatheredLooks((units) => this.#callShow(units, UNIT_PROPERTIES));
  #turn: Promise<unknown> = Promise.resolve();
  /** The unit files as they were when we last made systemd read them. */
  #read: string | null = null;

  constructor(scope: ManagerScope = MACHINE_SCOPE) {
    this.scope = scope;
  }

  /**
   * The systemd of a user, given by name or number; the same instance each time. Null: this one.
   * @throws AgentError `unknown_user`
   */
  forUser(user: string | null): Systemctl {
    if (user === null) return this;
    const account = systemUser(user);
    const known = this.#users.get(account.name) ?? new Systemctl(userScope(account));
    this.#users.set(account.name, known);
    return known;
  }

  /**
   * One look at a unit, together with those that others ask for in the same moment; a unit that isn't there has
   * `loadState` `not-found`.
   * @throws RuntimeError `systemd_unreachable`
   */
  async show(unit: string): Promise<UnitView> {
    return parseUnit(this.#answerOf(await this.#looks.of(unit)));
  }

  /** A look at a unit together with how it is set up: one call of `systemctl` less than both. */
  async showWhole(unit: string): Promise<{ view: UnitView; settings: UnitSettings }> {
    const answer = await this.#ask([unit], [...new Set([...UNIT_PROPERTIES, ...UNIT_SETTINGS])]);
    return { view: parseUnit(answer), settings: parseSettings(readProperties(answer)) };
  }

  /** How units are set up and what they are tied to, in the order of their names here. */
  async settings(units: readonly string[]): Promise<UnitSettings[]> {
    if (units.length === 0) return [];
    const answers = (await this.#ask(units, UNIT_SETTINGS)).split('\n\n');
    return answers.filter((answer) => answer.trim() !== '').map((answer) => parseSettings(readProperties(answer)));
  }

  /** Starts, stops or resets a unit and waits for its job. An abort ends the waiting, the job goes on. */
  run(verb: 'start' | 'stop' | 'reset-failed', unit: string, signal: AbortSignal): Promise<Called> {
    return this.call('systemctl', [verb, '--no-pager', '--no-ask-password', '--', unit], signal);
  }

  /**
   * Queues the start of a unit. A client that gets no answer is given up on and the unit itself is asked: when neither a
   * job nor a process is there, the order is given again (field-case 57).
   * @returns what systemd said against it; '' when the job is queued
   */
  async orderStart(unit: string, signal: AbortSignal, ...options: readonly string[]): Promise<string> {
    for (;;) {
      const called = await this.#inTurn(() => this.#queueStart(unit, options));
      if (called !== null) return called.code === 0 ? '' : called.stderr.trim();
      const { jobQueued, activeState } = await this.show(unit);
      if (jobQueued || !['inactive', 'failed'].includes(activeState)) return '';
      signal.throwIfAborted();
      await sleep(ORDER_AGAIN_MS);
    }
  }

  /**
   * Makes systemd read changed unit files.
   * @throws RuntimeError `reload_failed`
   */
  daemonReload(): Promise<void> {
    return this.#inTurn(() => this.#reload());
  }

  /**
   * As `daemonReload`, but saves the time of it, which is downtime of a node, when no unit file on this host has changed
   * since this process last made systemd read them.
   */
  async daemonReloadIfChanged(): Promise<void> {
    await this.#turn;
    if (this.#read === null || this.#read !== unitFilesNow(this.scope.unitFolders)) await this.daemonReload();
  }

  /** Runs a program to its end as whoever this systemd belongs to; its exit code is a value. */
  call(program: string, args: readonly string[], signal: AbortSignal): Promise<Called> {
    const { user } = this.scope;
    if (user === null) return call(program, args, signal);
    const scoped = program === 'systemctl' ? ['--user', ...args] : args;
    const ids = { uid: user.uid, gid: user.gid };
    return call(program, scoped, signal, {
      ...ids,
      cwd: '/',
      env: { XDG_RUNTIME_DIR: runtimeDirOf(user) },
    });
  }

  async #ask(units: readonly string[], properties: readonly string[]): Promise<string> {
    return this.#answerOf(await this.#callShow(units, properties));
  }

  #answerOf({ code, stdout, stderr }: Called): string {
    if (code !== 0) throw this.#unreachable(stderr);
    return stdout;
  }

  async #callShow(units: readonly string[], properties: readonly string[]): Promise<Called> {
    const args = ['show', '--no-pager', '-p', properties.join(','), '--', ...units];
    const patience = AbortSignal.timeout(SHOW_TIMEOUT_MS);
    try {
      return await this.call('systemctl', args, patience);
    } catch (error) {
      throw patience.aborted ? this.#unreachable('it did not answer in time.', error) : error;
    }
  }

  /** Null when the client got no answer. */
  async #queueStart(unit: string, options: readonly string[]): Promise<Called | null> {
    const patience = AbortSignal.timeout(ORDER_TIMEOUT_MS);
    const args = ['start', '--no-block', '--no-pager', '--no-ask-password', ...options, '--', unit];
    try {
      return await this.call('systemctl', args, patience);
    } catch (error) {
      if (patience.aborted) return null;
      throw error;
    }
  }

  async #reload(): Promise<void> {
    const files = unitFilesNow(this.scope.unitFolders); // before: a file that changes meanwhile counts as not read
    const called = await this.call('systemctl', ['daemon-reload'], AbortSignal.timeout(RELOAD_TIMEOUT_MS));
    if (called.code !== 0) {
      throw new RuntimeError('reload_failed', `systemctl daemon-reload failed: ${called.stderr.trim()}`);
    }
    this.#read = files;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined); // whoever waits its turn doesn't care how the one before ended
    return mine;
  }

  #unreachable(said: string, cause?: unknown): RuntimeError {
    const { user } = this.scope;
    const check =
      user === null
        ? 'Check that the agent runs as root on a host with systemd.'
        : `Check that the systemd of ${user.name} runs: systemctl status user@${user.uid}.service; \`loginctl enable-linger ${user.name}\` starts it at boot.`;
    return unreachable(`${said.trim()} ${check}`, cause);
  }
}

/** Runs one of systemd's programs to its end; its exit code is a value. Rejects with the signal's reason too. */
export async function call(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
  as: CallAs = {},
): Promise<Called> {
  try {
    return await callProgram(program, args, signal, as);
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    throw unreachable(`${program}: ${error.message}`, error);
  }
}

function unreachable(said: string, cause?: unknown): RuntimeError {
  return new RuntimeError('systemd_unreachable', `systemd does not answer: ${said}`, { cause });
}
