import { createDockerLab, type DockerLab } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import { serviceImage } from '@hoodcloud/testkit/docker-lab/service-image';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type Docker from 'dockerode';
import { cloneDifferences } from '../../clone-differences.ts';
import { cloneOf, createClone } from '../../container-clone.ts';
import type { ContainerInspect, ImageInspect } from '../../container-inspect.ts';
import { SURROUNDINGS } from './covered-options.ts';

const IMAGE = {
  Env: ['PATH=/bin', 'LEVEL=info'],
  Labels: { maker: 'them' },
  Volumes: { '/image-data': {} },
  WorkingDir: '/tmp',
  ExposedPorts: { '8080/tcp': {} },
};

/** One host with an engine, the images `v1` and `v2` there, and what containers refer to. */
export interface FidelityLab {
  readonly lab: DockerLab;
  readonly host: Host;
  readonly engine: Docker;
  /** References by digest. */
  readonly v1: string;
  readonly v2: string;
}

/** An engine with the image that containers are made from and the one that they get. */
type Engines = Pick<FidelityLab, 'engine' | 'v1' | 'v2'>;

export async function createFidelityLab(): Promise<FidelityLab> {
  const { lab, host, engine } = await createDockerLab('fidelity', { limits: true });
  const [v1, v2] = await Promise.all(
    ['v1', 'v2'].map(async (version) =>
      imageHere(engine, await lab.registry.push(`node:${version}`, serviceImage({ version, config: IMAGE }))),
    ),
  );
  if (v1 === undefined || v2 === undefined) throw new Error('two images were pushed');
  await host.sh(`${SURROUNDINGS}\ndocker run -d --name neighbour -v /shared -v named-too:/shared-too ${v1}`);
  return { lab, host, engine, v1, v2 };
}

export async function inspectOf(engine: Docker, container: string): Promise<ContainerInspect> {
  return (await engine.getContainer(container).inspect()) as unknown as ContainerInspect;
}

export async function imageOf(engine: Docker, image: string): Promise<ImageInspect> {
  return (await engine.getImage(image).inspect()) as unknown as ImageInspect;
}

/** Puts a clone with another image in a container's place, as an upgrade does; starts it when the old one ran. */
export async function swap({ engine, v1, v2 }: Engines, name: string): Promise<ContainerInspect> {
  const before = await inspectOf(engine, name);
  const clone = cloneOf({ container: before, oldImage: await imageOf(engine, v1), image: v2 });
  const old = engine.getContainer(before.Id);
  const ran = (before.State as { Running: boolean }).Running;
  if (ran) await old.stop();
  await old.rename({ name: `${name}.bak` });
  const made = await createClone(engine, clone);
  if (ran) await made.start();
  // Podman can change no policy and refuses containers that have one
  if (clone.restartPolicy.Name !== 'no') await made.update({ RestartPolicy: clone.restartPolicy });
  await old.remove({ v: false });
  return before;
}

/** Compares what a container was with what now has its name. */
export async function differencesNow(lab: Engines, name: string, before: ContainerInspect): Promise<string[]> {
  const [v1, v2] = await Promise.all([imageOf(lab.engine, lab.v1), imageOf(lab.engine, lab.v2)]);
  const now = await inspectOf(lab.engine, name);
  const policy = [before, now].map(({ HostConfig }) => JSON.stringify(HostConfig.RestartPolicy));
  return [
    ...cloneDifferences({ container: before, image: v1 }, { container: now, image: v2 }),
    ...(policy[0] === policy[1] ? [] : [`HostConfig.RestartPolicy: ${policy.join(' became ')}`]),
  ];
}
