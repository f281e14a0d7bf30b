import { Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { engineOf } from '@hoodcloud/testkit/docker-lab/docker-host';
import { createDockerLab, type DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Finding } from './doctor/finding.ts';
import type { PastAttempt } from './history-report.ts';
import type { StatusReport } from './status-report.ts';
import { HandHost } from './testing/hand-host.ts';
import { CONFIG, configOf, containerNode, type HandNode, unitNode, type Version } from './testing/hand-node.ts';

const RUNTIMES = ['systemd', 'docker'] as const;

/** The commands of an operator on real hosts, with the agent installed, the control plane gone and the network cut (A13). */
describe.skipIf(!dockerAvailable())('by hand on a host without control plane and network', () => {
  let lab: DockerLab;
  let hosts: Record<(typeof RUNTIMES)[number], HandHost>;

  beforeAll(async () => {
    const docker = await createDockerLab('handbox');
    lab = docker.lab;
    const open = (node: HandNode) => HandHost.make(node, lab.hosts.controlAddress);
    hosts = { systemd: await open(await unitNode(lab)), docker: await open(await containerNode(lab, docker.host)) };
  });
  afterAll(async () => {
    for (const host of Object.values(hosts ?? {})) host.dispose();
    await lab?.clean();
  });

  /** Rolls back, and sees by the host itself that the earlier version and its config are there again. */
  async function goesBack(host: HandHost, from: Version, to: Version, says: string): Promise<void> {
    const { node } = host;
    expect(await node.runs()).toBe(node.releases[from].checksum);
    const { code, stdout, stderr } = await host.hand('rollback', '--yes');
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain(says);
    expect(stdout).toMatch(new RegExp(`✓ app runs ${to} .* again, down for`));
    expect(await node.runs()).toBe(node.releases[to].checksum);
    expect(await node.host.readFile(CONFIG)).toBe(configOf(to));
  }

  it('doctor tells what a start of the unit may bring back, and what an upgrade left in it', async () => {
    const { systemd } = hosts;
    const dropIn = '/run/systemd/system/app.service.d/zzzz-hoodcloud-stop.conf';
    await systemd.node.host.writeFile(dropIn, '[Service]\nTimeoutStopSec=infinity\n');
    const findings = await systemd.told<Finding[]>('doctor');
    expect(findings.find(({ check }) => check === 'app rivals')?.found).toMatch(
      /^ExecStartPre= .* names \/opt\/app\/node/,
    );
    expect(findings.find(({ check }) => check === 'app drop-in')).toMatchObject({ verdict: 'warning' });
    expect(findings.find(({ check }) => check === 'app drop-in')?.todo).toContain(`rm ${dropIn}`);
    await systemd.node.host.sh(`rm ${dropIn}; systemctl daemon-reload`);
  });

  it.each(RUNTIMES)('%s: status, doctor and history tell the host; the running agent rolls back', async (runtime) => {
    const host = hosts[runtime];
    const { node } = host;
    expect(await host.upgrade('attempt-1', 'v1', 'v2')).toMatchObject({ outcome: Outcome.COMPLETED });
    await host.isolate();

    const version = { version: 'v2', checksum: node.releases.v2.checksum };
    const noticed = async () => {
      const status = await host.told<StatusReport>('status');
      expect(status).toMatchObject({ agent_running: true, control_plane: { connected: false } });
      return status;
    };
    const status = await vi.waitFor(noticed, { timeout: 240_000, interval: 200 });
    expect(status.components).toMatchObject([{ state: 'running', held: false, running: version, installed: version }]);
    const findings = await host.told<Finding[]>('doctor');
    expect(findings.filter(({ verdict }) => verdict === 'trouble')).toMatchObject([{ check: 'gateway' }]);
    const history = await host.told<PastAttempt[]>('history');
    expect(history).toMatchObject([{ attempt_id: 'attempt-1', outcome: 'completed', from_version: 'v1' }]);

    await goesBack(host, 'v2', 'v1', 'The running agent does it.');
    const after = await host.told<PastAttempt[]>('history');
    expect(after.map(({ outcome, undoes }) => ({ outcome, undoes }))).toEqual([
      { outcome: 'completed', undoes: 'attempt-1' },
      { outcome: 'rolled_back_by_hand', undoes: null },
    ]);
  });

  it.each(RUNTIMES)('%s: after CONFIRM and without an agent the command itself goes back', async (runtime) => {
    const host = hosts[runtime];
    const { node } = host;
    await host.reconnect();
    // to v2 first: an image that the agent has pulled is one that it might remove
    for (const [from, to] of [
      ['v1', 'v2'],
      ['v2', 'v3'],
    ] as const) {
      expect(await host.upgrade(`to-${to}`, from, to)).toMatchObject({ outcome: Outcome.COMPLETED });
      expect(await host.confirm(`to-${to}`, from, to)).toMatchObject({ outcome: Outcome.COMPLETED });
    }
    if (runtime === 'docker') expect(await containersOf(node)).toEqual(['/app']); // the old one is gone
    await host.isolate();
    await node.closeReleases();
    await host.stopAgent();

    await goesBack(host, 'v3', 'v2', 'so this command does it');
    await host.reconnect();
    await expect.poll(() => host.reported(), { timeout: 240_000 }).toBe(node.releases.v2.checksum);
    expect((await host.told<Finding[]>('doctor')).filter(({ verdict }) => verdict === 'trouble')).toEqual([]);
  });
});

async function containersOf({ host }: HandNode): Promise<string[]> {
  const found = await (await engineOf(host)).listContainers({ all: true });
  return found.flatMap(({ Names }) => Names);
}
