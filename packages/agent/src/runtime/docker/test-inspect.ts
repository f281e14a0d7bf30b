import type { ContainerConfig, ContainerInspect, HostConfig, ImageInspect } from './container-inspect.ts';

const ID = '5299dbf62c1347f1a7ce4f8a7e8df4eb53b2d0a3a1c6d1b60eb6f2d0c9a1b2c3';

/** An inspect as the engine answers it for a container on the default bridge, with what a test lays over it. */
export function containerInspect(
  parts: Partial<Omit<ContainerInspect, 'Config' | 'HostConfig'>> & {
    readonly Config?: ContainerConfig;
    readonly HostConfig?: Partial<HostConfig>;
  } = {},
): ContainerInspect {
  return {
    Id: ID,
    Name: '/node',
    Created: '2026-01-01T00:00:00Z',
    State: { Status: 'running', Running: true },
    Image: `sha256:${'a'.repeat(64)}`,
    Mounts: [],
    NetworkSettings: { Networks: { bridge: { NetworkID: 'b'.repeat(64), MacAddress: '02:42:ac:11:00:02' } } },
    ...parts,
    Config: { Hostname: ID.slice(0, 12), Image: 'node:v1', ...parts.Config },
    HostConfig: {
      NetworkMode: 'default',
      RestartPolicy: { Name: 'always', MaximumRetryCount: 0 },
      ...parts.HostConfig,
    },
  };
}

/** An image with these defaults. */
export function imageInspect(Config: ContainerConfig = {}): ImageInspect {
  return { Id: `sha256:${'a'.repeat(64)}`, Config };
}
