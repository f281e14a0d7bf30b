import { createDockerLab, type DockerLab, dockerAvailable } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import { serviceImage } from '@hoodcloud/testkit/docker-lab/service-image';
import type Docker from 'dockerode';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneDifferences } from '../clone-differences.ts';
import { cloneOf, createClone } from '../container-clone.ts';
import type { ContainerInspect, ImageInspect } from '../container-inspect.ts';
import { type RandomContainer, randomContainer, type Surroundings } from './testing/random-container.ts';

const IMAGE_DEFAULTS = {
  Entrypoint: ['/bin/start'],
  Cmd: ['serve'],
  Env: ['PATH=/bin', 'LEVEL=info'],
  Labels: { maker: 'image' },
  ExposedPorts: { '8080/tcp': {} },
  Volumes: { '/data': {} },
  WorkingDir: '/work',
  User: 'app',
  StopSignal: 'SIGINT',
  Healthcheck: { Test: ['CMD', 'true'], Interval: 9_000_000_000, Timeout: 3_000_000_000 },
};
const SURROUNDINGS: Surroundings = {
  network: 'random-net',
  otherNetwork: 'other-net',
  neighbour: 'neighbour',
  namedVolume: 'named',
};
const RUNS = 80;

describe.skipIf(!dockerAvailable())('a container made with random options', () => {
  let lab: DockerLab;
  let engine: Docker;
  let image: string;

  beforeAll(async () => {
    const made = await createDockerLab('random', { limits: true });
    ({ lab, engine } = made);
    image = await imageHere(
      engine,
      await lab.registry.push('rich:v1', serviceImage({ version: 'v1', config: IMAGE_DEFAULTS })),
    );
    await made.host.sh('mkdir -p /srv/ro /srv/rw /srv/shared /srv/mount');
    const ipam = { Config: [{ Subnet: '10.90.0.0/24' }] };
    await engine.createNetwork({ Name: SURROUNDINGS.network, IPAM: { Driver: 'default', ...ipam } });
    await engine.createNetwork({ Name: SURROUNDINGS.otherNetwork });
    await engine.createVolume({ Name: SURROUNDINGS.namedVolume });
    await (
      await engine.createContainer({
        name: SURROUNDINGS.neighbour,
        Image: image,
        Entrypoint: ['/bin/app'],
        Volumes: { '/shared': {} },
      })
    ).start();
  });
  afterAll(() => lab.clean());

  const inspected = async (container: Docker.Container) => (await container.inspect()) as unknown as ContainerInspect;

  it('and its clone differ only in image, ids and times (A14)', async () => {
    const defaults = (await engine.getImage(image).inspect()) as unknown as ImageInspect;
    let number = 0;
    await fc.assert(
      fc.asyncProperty(randomContainer(SURROUNDINGS), async ({ body, joins }: RandomContainer) => {
        const name = `random-${number++}`;
        const old = await engine.createContainer({ ...body, name, Image: image });
        for (const { network, endpoint } of joins) {
          await engine.getNetwork(network).connect({ Container: old.id, EndpointConfig: endpoint });
        }
        const before = await inspected(old);
        await old.rename({ name: `${name}.bak` });
        const clone = await createClone(engine, cloneOf({ container: before, oldImage: defaults, image }));
        const after = await inspected(clone);
        await clone.remove({ v: false });
        await old.remove({ v: true });
        const of = (container: ContainerInspect) => ({ container, image: defaults });
        expect(cloneDifferences(of(before), of(after))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
