import { readFile as readLocal } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CommandOutcome, HostLabError } from './lab-command.ts';

/** A file or folder of the machine made visible inside a host; read-only unless `writable`. */
export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly writable?: boolean;
}

/** How a host loses its network: unplugged at the switch, link down, or an iptables match on what it sends. */
export type Cut = 'switch' | 'cable' | readonly string[];

/** What a host asks of the lab that it is in. */
interface LabOfHost {
  /** One verb of the mechanism; throws when it fails. */
  control(args: readonly string[]): Promise<CommandOutcome>;
  /** As `control`, but any exit code is a value. */
  run(args: readonly string[], input?: string | Buffer): Promise<CommandOutcome>;
  /** The host was taken down. */
  forget(name: string): void;
}

interface HostParts {
  readonly lab: LabOfHost;
  readonly name: string;
  readonly ip: string;
  readonly root: string;
}

/** One real systemd host of a lab. */
export class Host {
  readonly name: string;
  readonly ip: string;
  /** The host's disk as the machine sees it; mounts of a running host (/run, /dev, /usr) are not in it. */
  readonly root: string;
  readonly #lab: LabOfHost;

  constructor({ lab, name, ip, root }: HostParts) {
    this.#lab = lab;
    this.name = name;
    this.ip = ip;
    this.root = root;
  }

  /** Runs a command as root inside; its exit code is a value. */
  exec(...command: readonly string[]): Promise<CommandOutcome> {
    return this.#lab.run(['exec', this.name, ...command]);
  }

  /** As `exec`, but answers standard output and throws `HostLabError` when the command fails. */
  async must(...command: readonly string[]): Promise<string> {
    return this.#checked(command, await this.exec(...command));
  }

  /** Runs a shell script inside, `set -eu`; answers its standard output, throws when it fails. */
  sh(script: string): Promise<string> {
    return this.must('sh', '-euc', script);
  }

  /** Puts a file in place by rename, so that a running executable can be replaced; makes its folder. */
  async writeFile(path: string, content: string | Buffer, mode = 0o644): Promise<void> {
    const script = 'mkdir -p "$2" && cat >"$1.put" && chmod "$3" "$1.put" && mv -T "$1.put" "$1"';
    const command = ['sh', '-euc', script, 'put', path, dirname(path), mode.toString(8)];
    this.#checked(command.slice(4), await this.#lab.run(['exec', this.name, ...command], content));
  }

  /** A file's text; of a host without power it is read from the disk. */
  async readFile(path: string): Promise<string> {
    if ((await this.pid()) === undefined) return readLocal(join(this.root, path), 'utf8');
    return this.must('cat', path);
  }

  /** The host's PID 1 as a pid of the machine, or undefined when it has no power. */
  async pid(): Promise<number | undefined> {
    const { stdout } = await this.#lab.run(['pid', this.name]);
    return stdout.trim() === '' ? undefined : Number(stdout);
  }

  /** Power loss: everything in the host ends at once, the disk stays. */
  async kill(): Promise<void> {
    await this.#lab.control(['kill', this.name]);
  }

  /** Boots the disk of a host that lost its power; returns when its systemd has finished booting. */
  async boot(): Promise<void> {
    await this.#lab.control(['boot', this.name]);
  }

  /** An orderly reboot; returns when the new boot has finished. */
  async reboot(): Promise<void> {
    await this.#lab.control(['reboot', this.name]);
  }

  /** Takes the network away: e.g. `cut(['-p', 'tcp', '--dport', '9090'])` loses only that traffic. */
  async cut(how: Cut = 'switch'): Promise<void> {
    await this.#lab.control(['cut', this.name, ...(typeof how === 'string' ? [how] : how)]);
  }

  /** Undoes every cut. */
  async heal(): Promise<void> {
    await this.#lab.control(['heal', this.name]);
  }

  /** Deletes the host with its disk. */
  async down(): Promise<void> {
    await this.#lab.control(['down', this.name]);
    this.#lab.forget(this.name);
  }

  #checked(command: readonly string[], outcome: CommandOutcome): string {
    if (outcome.code === 0) return outcome.stdout;
    const said = `${outcome.stderr}${outcome.stdout}`.trim();
    throw new HostLabError(`${this.name}: ${command.join(' ')} ended with ${outcome.code}: ${said}`);
  }
}
