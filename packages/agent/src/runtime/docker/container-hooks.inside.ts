import { chmod, chown, mkdir, mkdtemp, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { CommandResult } from '@hoodcloud/contracts/wire/agent-v1';
import {
  ArtifactKind,
  CommandSchema,
  CommandType,
  HookPoint,
  Operation,
  Outcome,
} from '@hoodcloud/contracts/wire/agent-v1';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import type { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AttemptStore } from '../../upgrade/attempt-store.ts';
import { UpgradeHandler } from '../../upgrade/upgrade-handler.ts';
import type { WantedArtifact } from '../runtime-adapter.ts';
import { ContainerHooks } from './container-hooks.ts';
import { Engine } from './engine.ts';
import { containersOf, docker, makeContainer, release, SOCKET, startRegistry } from './testing/test-container.ts';

const never = new AbortController().signal;
const USER = 1000;

let registry: TestRegistry;
let folder: string;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());
beforeEach(async () => {
  folder = await mkdtemp('/var/tmp/hooked-');
  await chmod(folder, 0o755);
});

const shell = (line: string, timeoutMs = 60_000) => ({ name: 'step', command: ['{binary}', '-c', line], timeoutMs });
const names = async (of: string) => (await containersOf(of)).flatMap(({ Names }) => Names).toSorted();

describe('a container that an operator made', () => {
  const name = 'hooked';
  let hooks: ContainerHooks;

  beforeEach(async () => {
    await mkdir(join(folder, 'node'));
    await chown(join(folder, 'node'), USER, USER);
    const { url } = await release(registry, 'runs');
    const made = await docker.createContainer({
      name,
      Image: await imageHere(docker, url),
      User: `${USER}:${USER}`,
      Env: ['SAID=two words'],
      Labels: { 'com.docker.compose.service': 'node' },
      ExposedPorts: { '8080/tcp': {} },
      HostConfig: {
        RestartPolicy: { Name: 'always' },
        Binds: [`${folder}:/data`],
        PortBindings: { '8080/tcp': [{ HostPort: '18080' }] },
        ExtraHosts: ['peer:192.0.2.1'],
      },
    });
    await made.start();
    const settings = { container: name, dataDir: join(folder, 'node'), hookPrograms: ['/no/such'] };
    hooks = new ContainerHooks(settings, new Engine(SOCKET));
  });
  afterEach(async () => {
    for (const { Id } of await containersOf(name)) await docker.getContainer(Id).remove({ force: true, v: true });
  });

  it('runs a step beside the running node: its user, environment, mounts and network, and leaves no container', async () => {
    const { State } = await docker.getContainer(name).inspect();
    const line = 'id -u; echo "$SAID-$BEHAVIOUR"; readlink /proc/self/ns/net; touch {data_dir}/mine; exit 7';
    const { output, code, timedOut } = await hooks.run(shell(line), never);
    const network = await readlink(`/proc/${State.Pid}/ns/net`);
    expect(output).toBe(`${USER}\ntwo words-runs\n${network}\n`);
    expect({ code, timedOut }).toEqual({ code: 7, timedOut: false });
    expect((await stat(join(folder, 'node/mine'))).uid).toBe(USER);
    expect(await names(name)).toEqual([`/${name}`]);
    expect((await docker.getContainer(name).inspect()).State.Pid).toBe(State.Pid);
  });

  it('runs a step while the node is stopped, which stays so', async () => {
    await docker.getContainer(name).stop({ t: 0 });
    const { output, code } = await hooks.run(shell('id -u; cat /proc/net/dev; touch {data_dir}/mine'), never);
    expect({ code, user: output.split('\n')[0] }).toEqual({ code: 0, user: `${USER}` });
    expect(output).toContain('eth0');
    expect((await stat(join(folder, 'node/mine'))).uid).toBe(USER);
    expect((await docker.getContainer(name).inspect()).State.Running).toBe(false);
    expect(await names(name)).toEqual([`/${name}`]);
  });

  it('ends a step whose time is up, keeps what it said, and leaves the node as it is', async () => {
    const { State } = await docker.getContainer(name).inspect();
    const { timedOut, output } = await hooks.run(shell('echo begun; sleep 4242', 5_000), never);
    expect({ timedOut, output }).toEqual({ timedOut: true, output: 'begun\n' });
    expect(await names(name)).toEqual([`/${name}`]);
    expect((await docker.getContainer(name).inspect()).State.Pid).toBe(State.Pid);
  });

  it('says so when the image has no such program, and refuses what nobody allowed', async () => {
    const { code, output } = await hooks.run({ name: 'step', command: ['/no/such'], timeoutMs: 60_000 }, never);
    expect(code).toBe(127);
    expect(output).toContain('/no/such');
    expect(await names(name)).toEqual([`/${name}`]);
    expect(() => hooks.check(['/bin/sh', '-c', 'true'])).toThrow(expect.objectContaining({ code: 'hook_not_allowed' }));
  });

  it('removes what an agent that died left of a step, and nobody else’s container (field-case 20)', async () => {
    const left = hooks.run(shell('sleep 4242'), never);
    await expect.poll(() => names(name), { timeout: 60_000 }).toContain(`/${name}.hook-step`);
    await hooks.end('step');
    expect(await names(name)).toEqual([`/${name}`]);
    await Promise.allSettled([left]);
    await hooks.end('step');
    await docker.createContainer({
      name: `${name}.hook-other`,
      Image: (await docker.getContainer(name).inspect()).Image,
    });
    await hooks.end('other');
    expect(await names(name)).toEqual([`/${name}`, `/${name}.hook-other`]);
  });
});

describe('an upgrade of a container', () => {
  it('runs its steps in the old image before the stop and in the new one after the install, kept beside the backup', async () => {
    const node = await makeContainer(registry);
    const adapter = node.adapter();
    await adapter.start({ signal: AbortSignal.timeout(60_000), stableMs: 100 });
    const wanted = await node.offer('runs');
    const old = await releaseOf((await docker.getContainer(node.name).inspect()).Image);
    const store = await AttemptStore.open(join(node.folder, 'state'), () => undefined);
    const environment = { store, log: pino({ level: 'silent' }), faultPoint: async () => undefined, now: Date.now };
    const component = { binaryName: node.name, dataDir: join(node.folder, 'data'), runtime: adapter };
    const results: CommandResult[] = [];
    const handler = new UpgradeHandler(environment, [component], {
      onProgress: () => undefined,
      onResult: (result) => results.push(result),
    });
    await handler.handle(upgradeWithSteps(node.name, wanted));
    expect(results[0]).toMatchObject({ outcome: Outcome.COMPLETED, errorMessage: '' });
    const said = (step: string) => readFile(join(node.folder, 'data/.upgrade-backup/attempt-1', `${step}.log`), 'utf8');
    expect(await said('before_stop-old')).toContain(`release ${old}\n`);
    expect(await said('after_install-new')).toContain(`release ${await releaseOf(wanted.url)}\n`);
    expect((await names(node.name)).filter((name) => name.includes('hook'))).toEqual([]);
    await node.dispose();
  });

  async function releaseOf(image: string): Promise<string> {
    const { Config } = await docker.getImage(image).inspect();
    return (Config.Env ?? []).find((entry) => entry.startsWith('RELEASE='))?.slice('RELEASE='.length) ?? '';
  }

  function upgradeWithSteps(binaryName: string, { url, checksum }: WantedArtifact) {
    const command = ['{binary}', '-c', 'echo "release $RELEASE"'];
    return create(CommandSchema, {
      commandId: 'upgrade-1',
      type: CommandType.UPGRADE_WITH_HOOKS,
      expiresInMs: 120_000,
      upgrade: {
        ...{ attemptId: 'attempt-1', operation: Operation.UPGRADE, binaryName, budgets: { stableMs: 100 } },
        artifact: { kind: ArtifactKind.IMAGE, url, checksum },
        hooks: [
          { name: 'old', point: HookPoint.BEFORE_STOP, command, timeoutMs: 60_000 },
          { name: 'new', point: HookPoint.AFTER_INSTALL, command, timeoutMs: 60_000 },
        ],
      },
    });
  }
});
