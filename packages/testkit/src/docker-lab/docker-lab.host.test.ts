import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Host } from '../host-lab/lab-host.ts';
import { engineOf } from './docker-host.ts';
import { createDockerLab, type DockerLab, dockerAvailable } from './docker-lab.ts';
import { imageHere } from './image-pull.ts';

describe.skipIf(!dockerAvailable())('docker lab', () => {
  let lab: DockerLab;
  let host: Host;
  let engine: Docker;

  beforeAll(async () => {
    ({ lab, host, engine } = await createDockerLab('engine'));
  });
  afterAll(() => lab.clean());

  it('pushes the same image under the same digest, and each version under one of its own', async () => {
    const once = await lab.registry.pushService('app', { version: 'v1' });
    expect(once).toMatch(/^198\.\d+\.\d+\.1:\d+\/app@sha256:[0-9a-f]{64}$/);
    expect(await lab.registry.pushService('app', { version: 'v1' })).toBe(once);
    expect(await lab.registry.pushService('app', { version: 'v2' })).not.toBe(once);
  });

  it('runs the service in a real container, serves on a published port, and ends it at once on TERM', async () => {
    const image = await imageHere(engine, await lab.registry.pushService('app', { version: 'v1' }));
    const HostConfig = { PortBindings: { '8080/tcp': [{ HostPort: '8080' }] } };
    const container = await engine.createContainer({ name: 'web', Image: image, HostConfig });
    await container.start();
    const version = async () => (await fetch(`http://${host.ip}:8080/version`)).text();
    await vi.waitFor(async () => expect(await version()).toBe('v1\n'), { timeout: 30_000 });

    await container.stop({ t: 30 });
    expect((await container.inspect()).State).toMatchObject({ Status: 'exited', ExitCode: 0 });
    const log = await container.logs({ stdout: true, stderr: true });
    expect(log.toString()).toMatch(/app v1 starts[\s\S]*app v1 stops/);
    await container.remove();
  });

  it('gives a version that crashes, with its sentence and its exit code', async () => {
    const image = await imageHere(engine, await lab.registry.pushService('app', { version: 'v3', crash: true }));
    const container = await engine.createContainer({ name: 'bad', Image: image });
    await container.start();
    expect(await container.wait()).toMatchObject({ StatusCode: 3 });
    expect((await container.logs({ stderr: true })).toString()).toContain('version mismatch');
    await container.remove();
  });

  it('keeps containers and honours restart policies over a power cut of the host', async () => {
    const image = await imageHere(engine, await lab.registry.pushService('app', { version: 'v1' }));
    const HostConfig = { RestartPolicy: { Name: 'always' } };
    await (await engine.createContainer({ name: 'always', Image: image, HostConfig })).start();
    await (await engine.createContainer({ name: 'never', Image: image })).start();

    await host.kill();
    await host.boot();

    engine = await engineOf(host);
    const running = async (name: string) => (await engine.getContainer(name).inspect()).State.Running;
    await vi.waitFor(async () => expect(await running('always')).toBe(true), { timeout: 60_000 });
    expect(await running('never')).toBe(false);
  });

  it('keeps the registry’s images and address while it is down for a while', async () => {
    const reference = await lab.registry.pushService('app', { version: 'v9' });
    await lab.registry.stop();
    await expect(imageHere(engine, reference)).rejects.toThrow('connection refused');
    await lab.registry.start();
    expect(await imageHere(engine, reference)).toBe(reference);
  });
});
