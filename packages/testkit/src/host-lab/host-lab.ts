import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandOutcome, HostLabError, runCommand } from './lab-command.ts';
import { type Bind, Host } from './lab-host.ts';

const SCRIPT = fileURLToPath(new URL('./systemd-host.sh', import.meta.url));
const TOOLS = ['/lib/systemd/systemd', '/usr/bin/dbus-daemon'];
const COMMANDS = ['ip', 'nsenter', 'unshare', 'setpriv', 'flock', 'pgrep', 'iptables'];

/** Where a lab lives: its folder, the first three numbers of its /24, and the machine's network device. */
interface LabSettings {
  readonly LAB_DIR: string;
  readonly LAB_NET: string;
  readonly LAB_BR: string;
}

export interface HostOptions {
  readonly binds?: readonly Bind[];
  /** The host may write to its `/usr`, as a package manager does; otherwise it is the machine's, read-only. */
  readonly ownUsr?: boolean;
}

/**
 * Real systemd hosts with a network of their own, for as long as this process lives. Any number of labs can stand at
 * once; what a killed run left behind is removed by the next `createLab()`.
 */
export class HostLab {
  readonly dir: string;
  /** The machine's own address in the lab's network; hosts know it as `control`. */
  readonly controlAddress: string;
  readonly #settings: LabSettings;
  readonly #hosts = new Map<string, Host>();
  readonly #atExit = () => {
    execFileSync(SCRIPT, ['clean'], { env: this.#env(), stdio: 'ignore' });
  };

  constructor(settings: LabSettings) {
    this.#settings = settings;
    this.dir = settings.LAB_DIR;
    this.controlAddress = `${settings.LAB_NET}.1`;
    process.once('exit', this.#atExit);
  }

  /**
   * Boots a new host. The running Node is on its PATH, whatever the machine's layout.
   * @param name at most 12 of a-z, 0-9 and `-`; unique within this lab
   */
  async up(name: string, options: HostOptions = {}): Promise<Host> {
    const binds = [...nodeBind(), ...(options.binds ?? [])];
    const flags = binds.flatMap((bind) => ['--bind', `${bind.source}:${bind.target}${bind.writable ? '' : ':ro'}`]);
    if (options.ownUsr) flags.push('--own-usr');
    await this.control(['up', name, ...flags]);
    const ip = (await this.control(['ip', name])).stdout.trim();
    const host = new Host({ lab: this, name, ip, root: join(this.dir, 'hosts', name, 'root') });
    this.#hosts.set(name, host);
    return host;
  }

  /** The name of a host's control group; groups of this name in other trees go with the host too. */
  groupOf(host: Host): string {
    return `${this.#settings.LAB_BR}-${host.name}`;
  }

  /** The hosts that were brought up and not taken down, in the order of their start. */
  get hosts(): readonly Host[] {
    return [...this.#hosts.values()];
  }

  /** Deletes every host, the network and the lab's folder. The lab cannot be used afterwards. */
  async clean(): Promise<void> {
    process.off('exit', this.#atExit);
    await this.control(['clean']);
    this.#hosts.clear();
  }

  /** Forgets a host that was taken down. */
  forget(name: string): void {
    this.#hosts.delete(name);
  }

  /** One verb of the mechanism; throws `HostLabError` with what it printed when it fails. */
  async control(args: readonly string[]): Promise<CommandOutcome> {
    const outcome = await this.run(args);
    if (outcome.code !== 0) {
      throw new HostLabError(`host lab: ${args.join(' ')} failed (${outcome.code}): ${outcome.stderr.trim()}`);
    }
    return outcome;
  }

  /** As `control`, but any exit code is a value. `input` becomes the command's standard input. */
  run(args: readonly string[], input: string | Buffer = ''): Promise<CommandOutcome> {
    return runCommand(SCRIPT, args, this.#env(), input);
  }

  #env(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.#settings };
  }
}

/** Claims a free lab for this process; its network comes with the first host. */
export async function createLab(base = join(tmpdir(), 'hoodcloud-host-lab')): Promise<HostLab> {
  const outcome = await runCommand(SCRIPT, ['claim', base, String(process.pid)], process.env, '');
  if (outcome.code !== 0) throw new HostLabError(`host lab: no lab could be claimed: ${outcome.stderr.trim()}`);
  const settings = Object.fromEntries(
    outcome.stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  );
  return new HostLab(settings as LabSettings);
}

/** Why this machine cannot run a host lab, as a sentence, or undefined when it can. */
export function labObstacle(): string | undefined {
  if (process.platform !== 'linux') return `the host lab needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'the host lab needs root';
  const path = (process.env.PATH ?? '').split(':').concat('/usr/sbin', '/sbin');
  const missing = [
    ...TOOLS.filter((tool) => !existsSync(tool)),
    ...COMMANDS.filter((command) => !path.some((folder) => existsSync(join(folder, command)))),
  ];
  return missing.length === 0
    ? undefined
    : `the host lab needs ${missing.join(', ')} (Debian: systemd dbus iproute2 util-linux procps iptables)`;
}

/**
 * Whether tests on real hosts can run here. Says in one line why not, and refuses to let them be skipped in CI.
 * @throws HostLabError in CI (`CI` set) on a machine without the means
 */
export function hostsAvailable(): boolean {
  const obstacle = labObstacle();
  if (obstacle === undefined) return true;
  if (process.env.CI) throw new HostLabError(`host tests may not be skipped in CI: ${obstacle}`);
  process.stderr.write(`skipped: ${obstacle}\n`);
  return false;
}

/** The running Node, when it is not part of the /usr that hosts share (their /usr/local is their own). */
function nodeBind(): readonly Bind[] {
  const shared = process.execPath.startsWith('/usr/') && !process.execPath.startsWith('/usr/local/');
  return shared ? [] : [{ source: process.execPath, target: '/usr/local/bin/node' }];
}
