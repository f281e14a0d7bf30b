import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT_ON_HOST } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { eventually } from '../eventually.ts';
import { SERVICE } from './small-service.ts';

/** On the host's disk: what the agent writes when it stands at its fault point survives a power cut. */
const FAULT_FILE = '/var/lib/fault-reached';

/** What a host shows from outside the agent. */
export interface HostLook {
  /** Executables of every process that was started from the install path, as `sha256:<hex>`. */
  readonly running: readonly string[];
  /** `APP_VERSION` of those processes: what a daemon-reload brought to them. */
  readonly environment: readonly string[];
  readonly installed: string;
  /** path → content of the config files, '' for one that is not there. */
  readonly configs: Readonly<Record<string, string>>;
  /** `path mode owner` of what an upgrade replaces. */
  readonly attributes: string;
  /** Files of an upgrade under way: downloads, temporary files, holds, drop-ins of a stop. */
  readonly leftovers: readonly string[];
}

const LOOK = `
for exe in /proc/[0-9]*/exe; do
  case "$(readlink "$exe" || true)" in
    ${SERVICE.binary}*)
      sum=$(sha256sum <"$exe") || continue
      echo "running sha256:\${sum%% *}"
      echo "environment $(tr '\\0' '\\n' <"\${exe%/exe}/environ" | sed -n 's/^APP_VERSION=//p')" ;;
  esac
done
echo "installed sha256:$(sha256sum <${SERVICE.binary} | cut -d' ' -f1)"
for file in ${SERVICE.config} ${SERVICE.dropIn}; do
  [ ! -e "$file" ] || echo "config $file $(base64 -w0 <"$file")"
done
echo "attributes $(stat -c '%n %a %u:%g' ${SERVICE.binary} ${SERVICE.config} | tr '\\n' ' ')"
find /opt/app /etc/app /etc/systemd/system /run/systemd/system /var/lib/hoodcloud \\
  '(' -name '.download-*' -o -name '*hoodcloud-tmp*' -o -name 'zzzz-hoodcloud*' -o -path '*/hold/*' -o -name hold -type f ')' \\
  -printf 'leftover %p\\n'
`;

/** A lab host whose agent can be caught and killed at a point of its work. */
export class CrashHost {
  readonly host: Host;

  constructor(host: Host) {
    this.host = host;
  }

  /** Starts the agent anew, to stand still when it comes to the point. */
  async arm(point: string): Promise<void> {
    const environment = `HOODCLOUD_FAULT=${point}\nHOODCLOUD_FAULT_FILE=${FAULT_FILE}\n`;
    await this.host.writeFile(AGENT_ON_HOST.environment, environment);
    await this.host.sh(`rm -f ${FAULT_FILE}; systemctl restart ${AGENT_ON_HOST.unit}`);
  }

  /** The agent's process, once it stands at its point. */
  async agentAtPoint(): Promise<number> {
    const file = join(this.host.root, FAULT_FILE);
    const line = await eventually('the agent came to its fault point', async () =>
      existsSync(file) ? (await readFile(file, 'utf8')).trim() : '',
    );
    return Number(line.split(' ').at(-1));
  }

  /** SIGKILL from outside to the agent's process alone; the host's systemd starts it again. */
  async killAgent(pid: number): Promise<void> {
    await this.host.must('kill', '-KILL', String(pid));
  }

  /** Cuts the power and boots without the agent: what the host does by itself can be seen then. */
  async powerCycleWithoutAgent(): Promise<void> {
    await this.host.kill();
    await writeFile(join(this.host.root, AGENT_ON_HOST.off), '');
    await this.host.boot();
  }

  async startAgent(): Promise<void> {
    await rm(join(this.host.root, AGENT_ON_HOST.off), { force: true });
    await this.host.must('systemctl', 'start', AGENT_ON_HOST.unit);
  }

  async look(): Promise<HostLook> {
    const lines = (await this.host.sh(LOOK)).split('\n');
    const values = (kind: string) =>
      lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1));
    const configs = values('config').map((value): [string, string] => {
      const [path = '', content = ''] = value.split(' ');
      return [path, Buffer.from(content, 'base64').toString()];
    });
    return {
      running: values('running'),
      environment: values('environment'),
      installed: values('installed').join(),
      configs: Object.fromEntries(configs),
      attributes: values('attributes').join(),
      leftovers: values('leftover'),
    };
  }

  /** Seconds since 1970 by the host's clock. */
  async now(): Promise<string> {
    return (await this.host.must('date', '+%s.%6N')).trim();
  }

  /** How often the service has said in its log that it was asked to stop. */
  async stops(): Promise<number> {
    const said = await readFile(join(this.host.root, SERVICE.log), 'utf8');
    return said.split('\n').filter((line) => line === SERVICE.askedToStop).length;
  }

  /** Everything that agent, service and systemd told the journal. */
  async logSince(since: string): Promise<string> {
    const units = ['-u', AGENT_ON_HOST.unit, '-u', SERVICE.unit];
    const service = await readFile(join(this.host.root, SERVICE.log), 'utf8');
    return `${service}\n${await this.#journal(since, '-o', 'short-precise', ...units)}`;
  }

  async #journal(since: string, ...args: string[]): Promise<string> {
    await this.host.must('journalctl', '--sync');
    return this.host.must('journalctl', '--no-pager', '-q', `--since=@${since}`, ...args);
  }
}
