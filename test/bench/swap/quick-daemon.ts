import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { createLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { type Binaries, type LiveNode, RELEASES } from '../live-node/live-node.ts';
import { fileAgent, fileArtifact, INSTALLED, PREPARED, prepareFile } from '../live-node/on-systemd.ts';

const SOURCE = fileURLToPath(new URL('./quick-daemon', import.meta.url));
const UNIT = 'quick.service';
const PORT = 26_657;
const UNIT_FILE = `[Service]
Type=exec
ExecStart=${INSTALLED} ${PORT}
Restart=always

[Install]
WantedBy=multi-user.target
`;

/** Two releases of a daemon that needs no time of its own, so that what is left is the tool's. Built with Go, from no download. */
async function buildQuickDaemon(): Promise<Binaries> {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-quick-'));
  const built = RELEASES.map(async (release) => {
    const path = join(folder, release);
    const args = [
      'build',
      '-C',
      SOURCE,
      '-buildvcs=false',
      '-ldflags',
      `-s -w -X main.release=${release}`,
      '-o',
      path,
      '.',
    ];
    await promisify(execFile)('go', args, { env: { ...process.env, CGO_ENABLED: '0' } });
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    return [release, { release, path, sha256 }] as const;
  });
  return Object.fromEntries(await Promise.all(built)) as Binaries;
}

/** The daemon as a unit. By hand: stop, rename, start in one shell. */
export async function quickDaemonOnSystemd(): Promise<LiveNode> {
  const binaries = await buildQuickDaemon();
  const lab = await createLab();
  const host = await lab.up('bench');
  const artifacts = await ArtifactServer.listen(lab.controlAddress);
  for (const { release, path } of Object.values(binaries)) {
    const content = await readFile(path);
    artifacts.publish(release, content);
    await host.writeFile(`/opt/releases/${release}`, content, 0o755);
  }
  await host.writeFile(INSTALLED, await readFile(binaries[RELEASES[0]].path), 0o755);
  await host.writeFile(`/etc/systemd/system/${UNIT}`, UNIT_FILE);
  await host.sh(`mkdir -p /var/lib/cometbft; systemctl daemon-reload; systemctl enable -q --now ${UNIT}`);
  const script = `systemctl stop ${UNIT} && mv -T ${PREPARED} ${INSTALLED} && systemctl start ${UNIT}`;
  return {
    host,
    rpcPort: PORT,
    agentConfig: fileAgent(lab, { type: 'systemd', unit: UNIT }),
    artifactOf: (release) => fileArtifact(artifacts, binaries, release),
    byHand: {
      shell: {
        prepare: (to) => prepareFile(host, to),
        change: async () => void (await host.sh(script)),
        tidy: async () => undefined,
      },
    },
    own: { stop: `systemctl stop ${UNIT}`, start: `systemctl start ${UNIT}` },
    dispose: async () => {
      await artifacts.close();
      await lab.clean();
    },
  };
}
