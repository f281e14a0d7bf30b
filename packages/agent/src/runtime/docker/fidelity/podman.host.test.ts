import { join } from 'node:path';
import { DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import { startPodman } from '@hoodcloud/testkit/docker-lab/podman-host';
import { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { createLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { refusalsOnHost } from '../refusals-on-host.ts';
import { differencesNow, imageOf, inspectOf, swap } from './testing/fidelity-lab.ts';

/** What Podman's own inspect may say anew of a clone: ids, times, the image, and addresses that it hands out. */
const MAY_DIFFER =
  /^(Created|State\.(Pid|ConmonPid|StartedAt)|Image|Image(Digest|Name)|Config\.Image|GraphDriver\.Data\..*|NetworkSettings\..*(IPAddress|MacAddress|SandboxKey)|Config\.Annotations\..*Created)$/;
/** What Docker's API has no word for, so that it can't be carried through it: told to operators. */
const NO_WORD_FOR = /^Config\.(CreateCommand|Umask|sdNotifyMode)/;
/** Two names of one log driver. */
const SAME_DRIVER = /^HostConfig\.LogConfig\.Type$/;

describe.skipIf(!dockerAvailable())('a container of Podman, through its Docker-compatible socket', () => {
  let lab: DockerLab;
  let host: Host;
  let engine: Docker;
  let images: { v1: string; v2: string };

  beforeAll(async () => {
    const hosts = await createLab();
    host = await hosts.up('podman');
    const registry = new TestRegistry({ folder: join(hosts.dir, 'registry'), listenAt: hosts.controlAddress });
    lab = new DockerLab(hosts, registry);
    await registry.start();
    engine = await startPodman(hosts, host);
    const [v1, v2] = await Promise.all([
      registry.pushService('node', { version: 'v1' }),
      registry.pushService('node', { version: 'v2' }),
    ]);
    images = { v1: await imageHere(engine, v1), v2: await imageHere(engine, v2) };
  });
  afterAll(() => lab?.clean());

  /** Podman's own inspect; the container's id is told as ID. */
  const own = async (): Promise<object> => {
    const text = await host.must('podman', 'inspect', 'node');
    const { Id } = JSON.parse(text)[0] as { Id: string };
    return JSON.parse(text.replaceAll(Id, 'ID').replaceAll(Id.slice(0, 12), 'ID'))[0];
  };

  it('has a clone that is the same in both inspects and in the data of its mounts, under its name (A14)', async () => {
    await host.sh(`mkdir -p /srv/rw; podman run -d --name node --env OWN=1 --label own=me --volume /anonymous --volume named:/named \\
      --volume /srv/rw:/rw --cap-add NET_ADMIN --cap-drop CHOWN --user 0:1000 --workdir /www --publish 18080:8080 \\
      --tmpfs /fast --shm-size 32m --stop-signal INT --stop-timeout 33 --add-host peer:10.0.0.3 --ulimit nofile=512:1024 --ulimit nproc=512:1024 \\
      --security-opt no-new-privileges --log-driver k8s-file --restart no ${images.v1}`);
    const write = 'for at in /anonymous /named /rw; do echo kept >$at/data; done';
    await host.must('podman', 'exec', 'node', 'sh', '-ec', write);
    const ownBefore = await own();

    const before = await swap({ engine, ...images }, 'node');

    expect(await differencesNow({ engine, ...images }, 'node', before)).toEqual([]);
    expect((await inspectOf(engine, 'node')).Config.Image).toBe(images.v2);
    const allowed = [MAY_DIFFER, NO_WORD_FOR, SAME_DRIVER];
    const others = differing('', ownBefore, await own()).filter((path) => !allowed.some((may) => may.test(path)));
    expect(others).toEqual([]);
    expect(await host.must('podman', 'exec', 'node', 'cat', '/anonymous/data', '/named/data', '/rw/data')).toBe(
      'kept\nkept\nkept\n',
    );
    const version = async () => (await fetch(`http://${host.ip}:18080/version`)).text();
    await vi.waitFor(async () => expect(await version()).toBe('v2\n'), { timeout: 30_000 });
  });

  it('is refused before the stop with a restart policy: Podman can’t set it aside', async () => {
    await host.must('podman', 'create', '--name', 'always', '--restart', 'always', images.v1);
    const always = await inspectOf(engine, 'always');
    await expect(engine.getContainer('always').update({ RestartPolicy: { Name: 'no' } })).rejects.toThrow('404');
    const refusals = await refusalsOnHost(engine, {
      container: always,
      oldImage: await imageOf(engine, images.v1),
    });
    expect(refusals.map(({ code }) => code)).toEqual(['restart_policy_fixed']);
  });
});

/** Paths of all leaves that differ; the order of a list says nothing. */
function differing(path: string, one: unknown, other: unknown): string[] {
  const [was, is] = [sorted(one), sorted(other)];
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  if (typeof was !== 'object' || typeof is !== 'object' || was === null || is === null) return [path];
  const [before, after] = [was, is] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differing(path === '' ? key : `${path}.${key}`, before[key], after[key]),
  );
}

function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return [...value].sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
}
