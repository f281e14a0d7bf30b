import Docker from 'dockerode';
import type { HostLab } from '../host-lab/host-lab.ts';
import type { Host } from '../host-lab/lab-host.ts';
import { answering } from './docker-host.ts';

/** Where Podman answers Docker's API inside the host, as on any Debian. */
export const PODMAN_SOCKET = '/run/podman/podman.sock';

/**
 * Gives a lab host Debian's Podman behind its socket, and answers a client of it. The host must have no Docker engine:
 * that one's packet filter drops what goes to Podman's networks. A lab host holds no control groups with limits, so
 * Podman is told to set none.
 */
export async function startPodman(lab: HostLab, host: Host): Promise<Docker> {
  const registry = `[[registry]]\nprefix = "${lab.controlAddress}"\nlocation = "${lab.controlAddress}"\ninsecure = true\n`;
  const settings = '[containers]\npids_limit = 0\n[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n';
  await host.writeFile('/etc/containers/policy.json', '{"default":[{"type":"insecureAcceptAnything"}]}');
  await host.writeFile('/etc/containers/registries.conf', registry);
  await host.writeFile('/etc/containers/containers.conf', settings);
  await host.must('systemctl', 'enable', '--now', 'podman.socket');
  return answering(host, new Docker({ socketPath: `/proc/${await host.pid()}/root${PODMAN_SOCKET}` }));
}
