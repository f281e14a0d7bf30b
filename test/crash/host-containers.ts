import { engineOf } from '@hoodcloud/testkit/docker-lab/docker-host';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type Docker from 'dockerode';
import type { HostView, Snapshot } from './host-view.ts';
import type { Adapter } from './runtimes.ts';

const OURS = /^(io\.)?hoodcloud/;

/** The whole host: its files and, where there is an engine, its containers. */
export async function snapshotOf(host: Host, view: HostView, adapter: Adapter): Promise<Snapshot> {
  const files = await view.snapshot();
  return adapter === 'docker' ? { ...files, ...(await containersOf(await engineOf(host))) } : files;
}

/** A line per container, with what an upgrade must keep of it: all but ids, times and the labels of the swap itself. */
async function containersOf(engine: Docker): Promise<Snapshot> {
  const lines: Record<string, string> = {};
  for (const { Id } of await engine.listContainers({ all: true })) {
    const { Name, Config, HostConfig, Mounts, State, NetworkSettings } = await engine.getContainer(Id).inspect();
    const labels = Object.entries(Config.Labels ?? {}).filter(([name]) => !OURS.test(name));
    lines[`container ${Name}`] = JSON.stringify({
      ...{ image: Config.Image, env: Config.Env, cmd: Config.Cmd, entrypoint: Config.Entrypoint, labels },
      ...{ status: State.Status, host: said(HostConfig), networks: Object.keys(NetworkSettings.Networks) },
      mounts: Mounts.map(({ Source, Destination, RW }) => `${Source}:${Destination}:${RW}`).sort(),
    });
  }
  return lines;
}

/** An engine that was started again says null for what it called an empty list before, and the other way round. */
function said(config: object): object {
  const isSaid = (value: unknown) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(config).filter(([, value]) => isSaid(value)));
}
