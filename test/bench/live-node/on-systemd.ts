import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { COMETBFT_ON_HOST, installCometbft } from '@hoodcloud/testkit/chains/cometbft-host';
import { createNetwork, DEFAULT_PORTS, type Validator } from '@hoodcloud/testkit/chains/cometbft-network';
import { createLab, type HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type { Binaries, LiveNode, Way } from './live-node.ts';

const { unit, binary: INSTALLED, home } = COMETBFT_ON_HOST;

export { INSTALLED };
export const PREPARED = '/usr/local/bin/.prepared';
const STOP_AND_SWAP = `systemctl stop ${unit} && mv -T ${PREPARED} ${INSTALLED}`;

/**
 * A validator as a unit. By hand: stop, rename, daemon-reload, start. The agent reloads before the stop and leaves the
 * second reload out when nothing has changed since (ADR 0011), so the steps without a reload are measured too: the least
 * that systemd can do.
 */
export async function nodeOnSystemd(binaries: Binaries): Promise<LiveNode> {
  const { lab, host, validator, artifacts } = await fileHost(binaries);
  await installCometbft(host, validator, binaries['v0.38.17'].path);
  await host.must('systemctl', 'start', unit);
  const shell = (script: string): Way => ({
    prepare: (to) => prepareFile(host, to),
    change: async () => void (await host.sh(script)),
    tidy: async () => undefined,
  });
  return {
    host,
    rpcPort: validator.rpcPort,
    agentConfig: fileAgent(lab, { type: 'systemd', unit }),
    artifactOf: (release) => fileArtifact(artifacts, binaries, release),
    byHand: {
      bare_steps: shell(`${STOP_AND_SWAP} && systemctl daemon-reload && systemctl start ${unit}`),
      bare_steps_without_reload: shell(`${STOP_AND_SWAP} && systemctl start ${unit}`),
    },
    own: { stop: `systemctl stop ${unit}`, start: `systemctl start ${unit}` },
    dispose: async () => {
      await artifacts.close();
      await lab.clean();
    },
  };
}

/** A lab with one host, the files of a validator for it, and both releases to be downloaded and on its disk. */
export async function fileHost(binaries: Binaries): Promise<FileHost> {
  const lab = await createLab();
  const host = await lab.up('bench');
  const artifacts = await ArtifactServer.listen(lab.controlAddress);
  const places = [{ name: 'bench', host: host.ip, ...DEFAULT_PORTS }];
  const [validator] = await createNetwork({
    binary: binaries['v0.38.17'].path,
    dir: join(lab.dir, 'network'),
    places,
  });
  if (validator === undefined) throw new Error('the network has no validator');
  for (const { release, path } of Object.values(binaries)) {
    const content = await readFile(path);
    artifacts.publish(release, content);
    await host.writeFile(`/opt/releases/${release}`, content, 0o755);
  }
  return { lab, host, validator, artifacts };
}

interface FileHost {
  readonly lab: HostLab;
  readonly host: Host;
  readonly validator: Validator;
  readonly artifacts: ArtifactServer;
}

export function fileArtifact(artifacts: ArtifactServer, binaries: Binaries, release: keyof Binaries) {
  const { sha256 } = binaries[release];
  return { kind: 'ARTIFACT_KIND_FILE', url: `${artifacts.origin}/${release}`, checksum: `sha256:${sha256}` };
}

export async function prepareFile(host: Host, release: keyof Binaries): Promise<void> {
  await host.must('cp', `/opt/releases/${release}`, PREPARED);
}

export function fileAgent({ controlAddress }: HostLab, runtime: object): object {
  return {
    control_plane: { address: `${controlAddress}:1` },
    state_dir: '/var/lib/hoodcloud',
    allow_http_hosts: [controlAddress],
    components: [{ binary_name: 'cometbft', install_path: INSTALLED, data_dir: home, runtime }],
  };
}
