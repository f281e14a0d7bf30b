import { equal, ok } from 'node:assert/strict';
import { IMAGES } from '../../tools/images/build-images.mjs';
import type { TinyHost } from '../e2e/stack/tiny-host.ts';
import { tinyRelease } from '../e2e/stack/tiny-release.ts';
import type { ComposeProject } from './compose-project.ts';
import type { DeployedFleet } from './deployed-fleet.ts';

const ROLES = ['reconciler', 'worker', 'gateway', 'api'];
const NEXT = 'hoodcloud-controlplane:next';
const BACKUP = '/srv/hoodcloud/backup.dump';

/** How often a node was started with a release. */
const startsOf = (host: TinyHost, version: string) =>
  host.journal('starts').filter((line) => line === `${version} runs`).length;

export async function rolloutCompletes(fleet: DeployedFleet): Promise<void> {
  const id = await fleet.roll(tinyRelease('v2'));
  await fleet.untilStatus(id, 'completed');
  for (const host of fleet.hosts) equal(host.journal('starts').at(-1), 'v2 runs');
}

/** One role after the other is made anew from the next image; the node that was told to stop meanwhile is upgraded once. */
export async function upgradeInTheMiddle(project: ComposeProject, fleet: DeployedFleet): Promise<void> {
  for (const host of fleet.hosts) host.stopSlowly();
  const id = await fleet.roll(tinyRelease('v3'));
  await fleet.closing();
  await project.release(NEXT);
  await project.compose('run', '-T', '--rm', '--no-deps', 'migrate');
  for (const role of ROLES) await project.compose('up', '-d', '--wait', '--no-deps', role);
  equal((await fleet.rollout(id)).status, 'running');
  for (const host of fleet.hosts) host.stopAtLast();
  await fleet.untilStatus(id, 'completed');
  for (const host of fleet.hosts) equal(startsOf(host, 'v3'), 1);
  for (const role of ROLES)
    equal((await project.docker('inspect', '-f', '{{.Config.Image}}', `hoodcloud-${role}-1`)).trim(), NEXT);
}

/** What was stored after the backup is lost; the node was stopping at both moments. */
export async function restoreInTheMiddle(project: ComposeProject, fleet: DeployedFleet): Promise<void> {
  for (const host of fleet.hosts) host.stopSlowly();
  const id = await fleet.roll(tinyRelease('v4'));
  const first = await fleet.closing();
  await project.script('backup.sh', 'save', BACKUP);
  await project.script('backup.sh', 'restore', BACKUP);
  ok(first.isClosing(), 'the node was left alone meanwhile');
  for (const host of fleet.hosts) host.stopAtLast();
  await fleet.untilStatus(id, 'completed');
  for (const host of fleet.hosts) equal(startsOf(host, 'v4'), 1);
}

/** The hosts are further than the restored rows: what they did after the backup is told again and counts. */
export async function restoreAfterTheEnd(project: ComposeProject, fleet: DeployedFleet): Promise<void> {
  for (const host of fleet.hosts) host.stopSlowly();
  const id = await fleet.roll(tinyRelease('v5'));
  await fleet.closing();
  await project.script('backup.sh', 'save', BACKUP);
  for (const host of fleet.hosts) host.stopAtLast();
  await fleet.untilStatus(id, 'completed');
  await project.script('backup.sh', 'restore', BACKUP);
  await fleet.untilStatus(id, 'completed');
  for (const host of fleet.hosts) equal(startsOf(host, 'v5'), 1);
}

export async function sizeOfImage(project: ComposeProject): Promise<string> {
  const bytes = await project.docker('image', 'inspect', '-f', '{{.Size}}', IMAGES.controlplane);
  return `  ${IMAGES.controlplane}: ${(Number(bytes) / 2 ** 20).toFixed(0)} MB`;
}

/** Resident memory of each role with two agents. */
export async function memoryOfRoles(project: ComposeProject): Promise<string> {
  const lines = ROLES.map(async (role) => {
    const pid = (await project.docker('inspect', '-f', '{{.State.Pid}}', `hoodcloud-${role}-1`)).trim();
    const status = await project.host.readFile(`/proc/${pid}/status`);
    return `  ${role}: ${Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)} MB resident`;
  });
  return (await Promise.all(lines)).join('\n');
}
