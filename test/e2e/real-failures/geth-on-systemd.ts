import { readFile } from 'node:fs/promises';
import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import type { GethBinary, GethRelease } from '@hoodcloud/testkit/chains/geth-binaries';
import { GETH_ON_HOST, gethUrls, installGeth } from '@hoodcloud/testkit/chains/geth-host';
import type { HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { GETH_HEALTH, GETH_REFUSAL, gethState, seedGeth } from './geth-state.ts';
import type { RealNode } from './real-node.ts';

/** geth v1.16.9 as a unit, with data that v1.17.10 fails to open. */
export async function gethOnSystemd(lab: HostLab, releases: Record<GethRelease, GethBinary>): Promise<RealNode> {
  const { 'v1.16.9': running, 'v1.17.10': refused } = releases;
  const host = await lab.up('gethunit');
  await installGeth(host, running.path);
  const { rpcUrl, metricsUrl } = gethUrls(host);
  await seedGeth(rpcUrl);
  const runs = async () => {
    const pid = (await host.must('systemctl', 'show', GETH_ON_HOST.unit, '-p', 'MainPID', '--value')).trim();
    return `sha256:${(await host.must('sha256sum', `/proc/${pid}/exe`)).split(' ')[0]}`;
  };
  return {
    chain: { id: 'geth-systemd', binary: 'geth', runtimeType: 'systemd', health: GETH_HEALTH },
    host,
    running: { version: running.release, checksum: `sha256:${running.sha256}` },
    refused: refused.release,
    refusal: GETH_REFUSAL,
    component: {
      binary_name: 'geth',
      install_path: GETH_ON_HOST.binary,
      data_dir: GETH_ON_HOST.dataDir,
      config_roots: ['/etc/geth'],
      metrics_url: metricsUrl,
      runtime: { type: 'systemd', unit: GETH_ON_HOST.unit },
    },
    look: (atBlock) => gethState(rpcUrl, atBlock),
    runs,
    offer: async (artifacts: ArtifactServer) => ({
      version: refused.release,
      checksum: `sha256:${refused.sha256}`,
      url: artifacts.publish(`geth-${refused.release}`, await readFile(refused.path)),
    }),
  };
}
