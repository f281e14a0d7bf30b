import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UpgradeOrder } from '@hoodcloud/agent/upgrade/drive-upgrade';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { COMETBFT_ON_HOST, installCometbft } from '@hoodcloud/testkit/chains/cometbft-host';
import { createNetwork, DEFAULT_PORTS } from '@hoodcloud/testkit/chains/cometbft-network';
import { bundleForHost } from '@hoodcloud/testkit/host-lab/bundle-for-host';
import { createLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { median, printFigures } from './figures.ts';
import { PortProbe } from './port-probe.ts';

/**
 * How long a node's RPC port is closed by an upgrade of ours, beside the same bare steps in one shell script on the same
 * unit: stop, rename, daemon-reload, start. Real CometBFT under a real systemd, the port probed each millisecond from
 * outside; both ways run by turns, and the two releases change places by turns, so that neither has the warmer cache.
 */
const PAIRS = Number(process.argv[2] ?? 21);
const { unit, binary: INSTALLED } = COMETBFT_ON_HOST;
const PREPARED = '/usr/local/bin/.prepared';
const BARE = `systemctl stop ${unit} && mv -T ${PREPARED} ${INSTALLED} && systemctl daemon-reload && systemctl start ${unit}`;

/** What the control plane would send. */
const order = (attemptId: string, url: string, sha256: string): UpgradeOrder => ({
  component: {
    unit,
    binaryName: 'cometbft',
    installPath: INSTALLED,
    dataDir: COMETBFT_ON_HOST.home,
    configRoots: [],
    allowHttpHosts: [new URL(url).hostname],
  },
  stateDir: '/var/lib/hoodcloud',
  command: {
    commandId: attemptId,
    type: 'COMMAND_TYPE_UPGRADE',
    expiresInMs: 120_000,
    upgrade: {
      attemptId,
      operation: 'OPERATION_UPGRADE',
      upgradeId: attemptId,
      binaryName: 'cometbft',
      targetVersion: attemptId,
      artifact: { kind: 'ARTIFACT_KIND_FILE', url, checksum: `sha256:${sha256}` },
      budgets: { stableMs: 500 },
    },
  },
});

const lab = await createLab();
const folder = await mkdtemp(join(tmpdir(), 'downtime-'));
try {
  const releases = await ensureCometbftReleases(['v0.38.17', 'v0.38.21']);
  const host = await lab.up('bench');
  const artifacts = await ArtifactServer.listen(lab.controlAddress);
  const places = [{ name: 'bench', host: host.ip, ...DEFAULT_PORTS }];
  const [validator] = await createNetwork({ binary: releases['v0.38.17'].path, dir: join(folder, 'net'), places });
  if (validator === undefined) throw new Error('the network has no validator');
  await installCometbft(host, validator, releases['v0.38.17'].path);
  for (const { release, path } of Object.values(releases)) {
    const content = await readFile(path);
    artifacts.publish(release, content);
    await host.writeFile(`/opt/releases/${release}`, content, 0o755);
  }
  await bundleForHost(
    host,
    fileURLToPath(new URL('../../packages/agent/src/upgrade/drive-upgrade.ts', import.meta.url)),
    '/opt/upgrade.mjs',
  );
  await host.must('systemctl', 'start', unit);
  const probe = await PortProbe.start(host.ip, validator.rpcPort);

  const next = { 'v0.38.17': releases['v0.38.21'], 'v0.38.21': releases['v0.38.17'] } as const;
  let installed: keyof typeof next = 'v0.38.17';
  const change = async (how: 'bare' | 'product') => {
    const to = next[installed];
    installed = to.release as keyof typeof next;
    if (how === 'bare') await host.must('cp', `/opt/releases/${to.release}`, PREPARED);
    const url = `${artifacts.origin}/${to.release}`;
    const upgrade = [
      'node',
      '/opt/upgrade.mjs',
      JSON.stringify(order(`attempt-${seen.product.length}`, url, to.sha256)),
    ];
    const command = how === 'bare' ? ['sh', '-c', BARE] : upgrade;
    return probe.downtimeOf(async () => {
      const said = await host.must(...command);
      if (how === 'product' && JSON.parse(said).outcome !== 'OUTCOME_COMPLETED') throw new Error(said);
    });
  };

  const seen = { bare: [] as number[], product: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    for (const how of pair % 2 === 0 ? (['product', 'bare'] as const) : (['bare', 'product'] as const)) {
      seen[how].push(await change(how));
    }
    console.log(
      `pair ${pair + 1} of ${PAIRS}: product ${seen.product.at(-1)?.toFixed(0)} ms, bare ${seen.bare.at(-1)?.toFixed(0)} ms`,
    );
  }
  await probe.stop();
  await artifacts.close();

  const [product, bare] = [median(seen.product), median(seen.bare)];
  const details = { pairs: PAIRS, better: 'lower' } as const;
  printFigures([
    { name: 'downtime_product', value: product, unit: 'ms', ...details },
    { name: 'downtime_bare_steps', value: bare, unit: 'ms', ...details },
    { name: 'downtime_ratio', value: product / bare, unit: 'ratio', goal: 1.1, ...details },
  ]);
} finally {
  await lab.clean();
  await rm(folder, { recursive: true, force: true });
}
