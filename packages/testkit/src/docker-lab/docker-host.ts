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
 */
export async function startEngine(lab: HostLab, host: Host): Promise<void> {
  const settings = { 'insecure-registries': [`${lab.controlAddress}/24`], bip: '172.31.255.1/24' };
  await host.writeFile('/etc/docker/daemon.json', JSON.stringify(settings));
  await host.must('systemctl', 'enable', '--now', 'docker.service');
  await engineOf(host);
}

/**
 * A client of the host's engine for use on the machine; resolves when the engine answers. Ask anew after a boot.
 * @throws HostLabError when it doesn't answer within a minute
 */
export async function engineOf(host: Host): Promise<Docker> {
  const engine = new Docker({ socketPath: await engineSocketOnMachine(host) });
  let cause: unknown;
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(20)) {
    try {
      await engine.ping();
      return engine;
    } catch (error) {
      cause = error;
    }
  }
  throw new HostLabError(`${host.name}: its Docker engine does not answer: ${String(cause)}`);
}

/** The engine's socket as a path of the machine; it changes with each boot of the host. */
export async function engineSocketOnMachine(host: Host): Promise<string> {
  const pid = await host.pid();
  if (pid === undefined) throw new HostLabError(`${host.name} has no power, so no engine runs there`);
  return `/proc/${pid}/root${ENGINE_SOCKET}`;
}
