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
import { type Figure, median, printFigures } from './figures.ts';
import { PortProbe } from './port-probe.ts';

/**
 * How long a node's RPC port is closed by an upgrade of ours, beside the same bare steps in one shell script on the same
 * unit: stop, rename, daemon-reload, start. Real CometBFT under a real systemd, the port probed each millisecond from
 * outside; the ways run by turns, and the two releases change places by turns, so that none has the warmer cache.
 *
 * The agent reloads before the stop and leaves the second reload out when nothing has changed since (ADR 0011), so a third
 * way is measured beside them: the bare steps without a reload, which is the least that systemd can do.
 */
const PAIRS = Number(process.argv[2] ?? 21);
const { unit, binary: INSTALLED } = COMETBFT_ON_HOST;
const PREPARED = '/usr/local/bin/.prepared';
const STOP_AND_SWAP = `systemctl stop ${unit} && mv -T ${PREPARED} ${INSTALLED}`;
const BARE = {
  bare: `${STOP_AND_SWAP} && systemctl daemon-reload && systemctl start ${unit}`,
  bareWithoutReload: `${STOP_AND_SWAP} && systemctl start ${unit}`,
} as const;
const WAYS = ['product', 'bare', 'bareWithoutReload'] as const;
type Way = (typeof WAYS)[number];

const CONFIG = '/etc/hoodcloud/agent.yaml';
const agentConfig = (artifactHost: string) => `control_plane: { address: '${artifactHost}:1' }
state_dir: /var/lib/hoodcloud
allow_http_hosts: [${artifactHost}]
components:
  - binary_name: cometbft
    install_path: ${INSTALLED}
    data_dir: ${COMETBFT_ON_HOST.home}
    runtime: { type: systemd, unit: ${unit} }
`;

/** What the control plane would send. */
const order = (attemptId: string, url: string, sha256: string): UpgradeOrder => ({
  configFile: CONFIG,
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
  await host.writeFile(CONFIG, agentConfig(lab.controlAddress));
  await host.must('systemctl', 'start', unit);
  const probe = await PortProbe.start(host.ip, validator.rpcPort);

  const next = { 'v0.38.17': releases['v0.38.21'], 'v0.38.21': releases['v0.38.17'] } as const;
  let installed: keyof typeof next = 'v0.38.17';
  const seen: Record<Way, number[]> = { product: [], bare: [], bareWithoutReload: [] };
  const change = async (how: Way) => {
    const to = next[installed];
    installed = to.release as keyof typeof next;
    if (how !== 'product') await host.must('cp', `/opt/releases/${to.release}`, PREPARED);
    const url = `${artifacts.origin}/${to.release}`;
    const attempt = JSON.stringify(order(`attempt-${seen.product.length}`, url, to.sha256));
    const command = how === 'product' ? ['node', '/opt/upgrade.mjs', attempt] : ['sh', '-c', BARE[how]];
    return probe.downtimeOf(async () => {
      const said = await host.must(...command);
      if (how === 'product' && JSON.parse(said).outcome !== 'OUTCOME_COMPLETED') throw new Error(said);
    });
  };

  for (let round = 0; round < PAIRS; round += 1) {
    for (const [turn] of WAYS.entries()) {
      const how = WAYS[(round + turn) % WAYS.length] ?? 'product';
      seen[how].push(await change(how));
    }
    const last = WAYS.map((how) => `${how} ${seen[how].at(-1)?.toFixed(0)} ms`).join(', ');
    console.log(`round ${round + 1} of ${PAIRS}: ${last}`);
  }
  await probe.stop();
  await artifacts.close();
  printFigures(figuresOf(seen));
} finally {
  await lab.clean();
  await rm(folder, { recursive: true, force: true });
}

/** Medians of each way; the product beside each bare way, by medians and by the median over the pairs of a round. */
function figuresOf(seen: Readonly<Record<Way, readonly number[]>>): Figure[] {
  const details = { pairs: PAIRS, better: 'lower' } as const;
  const time = (name: string, how: Way): Figure => ({ name, value: median(seen[how]), unit: 'ms', ...details });
  const ofMedians = (how: Way) => median(seen.product) / median(seen[how]);
  const ofPairs = (how: Way) => median(seen.product.map((own, round) => own / (seen[how][round] ?? Number.NaN)));
  const ratio = { unit: 'ratio', ...details } as const;
  return [
    time('downtime_product', 'product'),
    time('downtime_bare_steps', 'bare'),
    time('downtime_bare_steps_without_reload', 'bareWithoutReload'),
    { name: 'downtime_ratio_without_reload_of_medians', value: ofMedians('bareWithoutReload'), ...ratio },
    { name: 'downtime_ratio_without_reload', value: ofPairs('bareWithoutReload'), ...ratio },
    { name: 'downtime_ratio_of_medians', value: ofMedians('bare'), goal: 1.1, ...ratio },
    { name: 'downtime_ratio', value: ofPairs('bare'), goal: 1.1, ...ratio },
  ];
}
