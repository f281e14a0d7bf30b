import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import type { HostLab } from '../host-lab/host-lab.ts';
import { HostLabError } from '../host-lab/lab-command.ts';
import type { Host } from '../host-lab/lab-host.ts';

/** Where the engine listens inside the host, as on any Debian. */
export const ENGINE_SOCKET = '/run/docker.sock';

/**
 * Gives a lab host a Docker engine of its own: Debian's docker.service and containerd under the host's systemd, with the
 * host's network, so that containers end with the host and nothing of them reaches the machine. Enabled: it comes back
 * with the host after a power cut, and then honours restart policies. Registries in the lab's network need no TLS.
 * @param options.limits on a machine with cgroups v1 too the engine enforces and remembers limits (memory, CPU, pids).
 *   Hosts have only the v2 tree, which holds no controllers there: without this the engine drops limits with a warning.
 */
export async function startEngine(
  lab: HostLab,
  host: Host,
  options: { readonly limits?: boolean } = {},
): Promise<void> {
  const settings = { 'insecure-registries': [`${lab.controlAddress}/24`], bip: '172.31.255.1/24' };
  await host.writeFile('/etc/docker/daemon.json', JSON.stringify(settings));
  if (options.limits && (await hasControllersV1())) await giveControllers(lab, host);
  await host.must('systemctl', 'enable', '--now', 'docker.service');
  await engineOf(host);
}

const WITH_CONTROLLERS = '/usr/local/sbin/dockerd-with-controllers';

async function hasControllersV1(): Promise<boolean> {
  return /^memory\t[1-9]/m.test(await readFile('/proc/cgroups', 'utf8'));
}

/**
 * The engine and the containerd that it then starts itself see the machine's v1 controllers, in a mount namespace of
 * their own; its groups are named after the host, so that the lab finds and removes them.
 */
async function giveControllers(lab: HostLab, host: Host): Promise<void> {
  const mounts = `mount --make-private /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
while read -r name _ _ _; do
  case $name in '#'*) continue ;; esac
  mkdir "/sys/fs/cgroup/$name"
  mount -t cgroup -o "$name" cgroup "/sys/fs/cgroup/$name" 2>/dev/null || rmdir "/sys/fs/cgroup/$name"
done </proc/cgroups`;
  await host.writeFile(WITH_CONTROLLERS, `#!/bin/sh -eu\n${mounts}\nexec /usr/sbin/dockerd "$@"\n`, 0o755);
  const start = `/usr/bin/unshare --mount --propagation unchanged ${WITH_CONTROLLERS} -H fd://`;
  // as systemd does on a real machine, so that mounts can be shared with containers
  const share = 'ExecStartPre=/bin/mount --make-rshared /';
  const dropIn = `[Service]\n${share}\nExecStart=\nExecStart=${start} --cgroup-parent /${lab.groupOf(host)}\n`;
  await host.writeFile('/etc/systemd/system/docker.service.d/controllers.conf', dropIn);
  await host.sh('systemctl mask containerd.service && systemctl daemon-reload');
}

/**
 * A client of the host's engine for use on the machine; resolves when the engine answers. Ask anew after a boot.
 * @throws HostLabError when it doesn't answer within a minute
 */
export async function engineOf(host: Host): Promise<Docker> {
  return answering(host, new Docker({ socketPath: await engineSocketOnMachine(host) }));
}

/** The engine, once it answers. */
export async function answering(host: Host, engine: Docker): Promise<Docker> {
  let cause: unknown;
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(20)) {
    try {
      await engine.ping();
      return engine;
    } catch (error) {
      cause = error;
    }
  }
  throw new HostLabError(`${host.name}: its engine does not answer: ${String(cause)}`);
}

/** The engine's socket as a path of the machine; it changes with each boot of the host. */
export async function engineSocketOnMachine(host: Host): Promise<string> {
  const pid = await host.pid();
  if (pid === undefined) throw new HostLabError(`${host.name} has no power, so no engine runs there`);
  return `/proc/${pid}/root${ENGINE_SOCKET}`;
}
