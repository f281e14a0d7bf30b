import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JoinTokenView } from '@hoodcloud/contracts/http/nodes';
import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type { ControlPlane } from './stack/control-plane.ts';
import { BINARY, NODE_TYPE } from './stack/tiny-host.ts';
import { TINY_NODE_SCRIPT, type TinyRelease } from './stack/tiny-release.ts';

export const AGENT = 'hoodcloud-agent';
export const CHAIN = 'packaged';

/** Where the tiny node lives under its host's systemd. */
const ON_HOST = {
  binary: `/usr/local/bin/${BINARY}`,
  script: '/srv/tiny/node.sh',
  config: '/srv/tiny/node.conf',
  data: '/srv/tiny/data',
} as const;

/**
 * Files of the chain whose nodes are tiny ones and whose agents are upgraded by rollouts too.
 * @param startSeconds within which a new agent must be back at its control plane; waited for in full when it never is
 */
export function writePackagedChain(
  configDir: string,
  nodes: readonly TinyRelease[],
  agent: TinyRelease,
  startSeconds = 90,
): void {
  mkdirSync(join(configDir, CHAIN), { recursive: true });
  mkdirSync(join(configDir, 'upgrades', CHAIN), { recursive: true });
  const known = (releases: readonly TinyRelease[]) => releases.map(({ version, checksum }) => ({ version, checksum }));
  const profile = {
    chain_profile_id: CHAIN,
    node_types: [NODE_TYPE],
    binaries: [
      { name: BINARY, known_versions: known(nodes) },
      { name: AGENT, known_versions: known([agent]) },
    ],
    health: {
      healthy_expression: 'metrics.tiny_height > 0.0',
      synced_expression: 'metrics.tiny_height > 0.0',
      health_wait_seconds: 1,
      stable_seconds: 1,
    },
  };
  writeFileSync(join(configDir, CHAIN, 'profile.yaml'), JSON.stringify(profile));
  const runtime = { runtime: { type: 'systemd' }, budgets: { start_seconds: startSeconds } };
  writeFileSync(join(configDir, CHAIN, 'runtime.yaml'), JSON.stringify(runtime));
}

/** The agent's own file, as its operator completes the one of the package. */
function agentFile(gateway: string, metricsUrl: string): string {
  return JSON.stringify({
    control_plane: { address: gateway },
    state_dir: '/var/lib/hoodcloud',
    allow_http_hosts: [new URL(metricsUrl).hostname],
    components: [
      {
        binary_name: AGENT,
        install_path: `/usr/bin/${AGENT}`,
        data_dir: '/var/lib/hoodcloud',
        runtime: { type: 'systemd', unit: `${AGENT}.service` },
      },
      {
        binary_name: BINARY,
        install_path: ON_HOST.binary,
        data_dir: ON_HOST.data,
        metrics_url: metricsUrl,
        runtime: { type: 'systemd', unit: `${BINARY}.service` },
      },
    ],
  });
}

/** A node as its operator runs it, before there is any agent. */
export async function installTinyNode(host: Host, { content }: TinyRelease): Promise<void> {
  await host.writeFile(ON_HOST.binary, content, 0o755);
  await host.writeFile(ON_HOST.script, TINY_NODE_SCRIPT);
  await host.writeFile(ON_HOST.config, 'peers = 10\n');
  const command = `${ON_HOST.binary} ${ON_HOST.script} ${ON_HOST.data} ${ON_HOST.config}`;
  await host.writeFile(
    `/etc/systemd/system/${BINARY}.service`,
    `[Service]\nExecStart=${command}\nRestart=always\n[Install]\nWantedBy=multi-user.target\n`,
  );
  await host.sh(`mkdir -p ${ON_HOST.data}; systemctl daemon-reload; systemctl enable -q --now ${BINARY}`);
}

/**
 * Every file of the host: kind, mode, owner, target of a link, content; of /usr what differs from the machine's. Left out is
 * what other programs write by themselves: the journal, systemd's state, dpkg's own books, and the node's blocks.
 */
export async function filesOf(host: Host): Promise<Map<string, string>> {
  const skipped = [
    '/var/log',
    '/var/lib/dpkg',
    '/var/lib/systemd',
    '/var/cache',
    '/tmp',
    '/proc',
    '/sys',
    '/dev',
    '/mnt',
    '/var/tmp/systemd-private-*', // of logind, another one at each boot
  ];
  const prune = skipped.map((path) => `-path ${path}`).join(' -o ');
  const blocks = `-path '${ON_HOST.data}/*' ! -path '*/.upgrade-backup*'`;
  const what = `\\( ${prune} \\) -prune -o ! \\( ${blocks} \\)`;
  const listed = await host.sh(`
    find / /usr/local /run/systemd/system /run/systemd/transient -xdev ${what} -printf '%p\\t%y %m %U:%G %l\\n' 2>/dev/null || true
    find / /usr/local -xdev ${what} -type f -exec sha256sum {} + | sed -E 's/^(\\S+) +(.*)/\\2#content\\t\\1/'`);
  const files = new Map(
    listed
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t') as [string, string]),
  );
  for (const path of ownFilesOfUsr(host)) files.set(path, 'not the same as on the machine');
  return files;
}

/** What a host with a `/usr` of its own has there that the machine has not, or has in another way. */
function ownFilesOfUsr(host: Host): string[] {
  const upper = join(host.root, '../usr-upper');
  return readdirSync(upper, { recursive: true, encoding: 'utf8' })
    .filter((name) => {
      const [own, machines] = [lstatSync(join(upper, name)), lstatSync(join('/usr', name), { throwIfNoEntry: false })];
      // a folder in which something was written was copied with its attributes; it says nothing by itself
      return !own.isDirectory() || own.mode !== machines?.mode || own.uid !== machines.uid || own.gid !== machines.gid;
    })
    .map((name) => join('/usr', name));
}

/** What became of a host's files, one line a difference. */
export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `${path}: ${before.get(path) ?? 'nothing'} → ${after.get(path) ?? 'nothing'}`);
}

/** Installs the agent's package on a host with a `/usr` of its own, joins and starts it, as an operator does. */
export async function installPackage(host: Host, plane: ControlPlane, artifacts: ArtifactServer): Promise<void> {
  await host.writeFile('/var/lib/dpkg/status', await readFile('/var/lib/dpkg/status')); // what /usr holds
  await host.sh('mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates; touch /var/lib/dpkg/available');
  await host.writeFile('/tmp/agent.deb', await builtFile('debian-package'));
  await host.sh('dpkg --install /tmp/agent.deb; rm /tmp/agent.deb');
  const metricsUrl = artifacts.publish('metrics', Buffer.from('tiny_height 5\n'));
  await host.writeFile('/etc/hoodcloud/agent.yaml', agentFile(plane.gateway, metricsUrl));
  await plane.hoodctl.does('node', 'add', host.name, '--chain', CHAIN, '--type', NODE_TYPE);
  const { join_token } = await plane.hoodctl.asks<JoinTokenView>('node', 'join-token', host.name);
  await host.must(AGENT, 'join', '--token', join_token);
  await host.must('systemctl', 'start', AGENT);
}

/** Brings deploy/ and the program to a host, as an operator without dpkg does. @returns the folder */
export async function bringScripts(host: Host, program: Buffer): Promise<string> {
  const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));
  for (const name of readdirSync(deploy, { recursive: true, encoding: 'utf8' })) {
    const path = join(deploy, name);
    if (lstatSync(path).isFile())
      await host.writeFile(`/tmp/deploy/${name}`, readFileSync(path), lstatSync(path).mode & 0o777);
  }
  await host.writeFile('/tmp/deploy/hoodcloud-agent', program, 0o755);
  return '/tmp/deploy';
}

/** What a tool of tools/agent-package makes, or finds in the cache. */
export async function builtFile(tool: 'agent-program' | 'debian-package'): Promise<Buffer> {
  const path = fileURLToPath(new URL(`../../tools/agent-package/${tool}.mjs`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path]);
  return readFile(stdout.trim());
}

/** An agent that starts and stays up, and that no gateway lets in: its credential goes out under a wrong name. */
export function agentThatStaysAway(agent: Buffer): Buffer {
  const right = Buffer.from('`Bearer $');
  const content = Buffer.from(agent);
  const at = content.indexOf(right);
  if (at < 0 || content.indexOf(right, at + 1) >= 0)
    throw new Error('the agent sends its credential in another way now');
  content.write('`Bearei $', at, 'latin1');
  return content;
}
