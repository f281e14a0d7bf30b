import type Docker from 'dockerode';
import {
  type CloneRefusal,
  cloneRefusals,
  isTempOrLog,
  WRITABLE_LAYER_LIMIT,
  type WrittenFile,
} from './clone-refusals.ts';
import type { ContainerInspect, ImageInspect } from './container-inspect.ts';

export interface RefusalQuestion {
  readonly container: ContainerInspect;
  readonly oldImage: ImageInspect | null;
  /** As in `RefusalInput`. */
  readonly writableLayerLimit?: number | null;
}

/**
 * `cloneRefusals` with what the engine shows: every other container, and what this one wrote outside its mounts.
 * Changes nothing.
 * @throws the engine's error
 */
export async function refusalsOnHost(engine: Docker, question: RefusalQuestion): Promise<CloneRefusal[]> {
  const { container, writableLayerLimit = WRITABLE_LAYER_LIMIT } = question;
  const others = await otherContainers(engine, container.Id);
  const written = writableLayerLimit === null ? [] : await writtenFiles(engine, container.Id, writableLayerLimit);
  return cloneRefusals({ ...question, others, written, changesRestartPolicy: !(await isPodman(engine)) });
}

async function isPodman(engine: Docker): Promise<boolean> {
  const { Components } = (await engine.version()) as { Components?: { Name: string }[] };
  return (Components ?? []).some(({ Name }) => Name === 'Podman Engine');
}

async function otherContainers(engine: Docker, id: string): Promise<ContainerInspect[]> {
  const listed = await engine.listContainers({ all: true });
  const inspects = await Promise.all(
    listed
      .filter((other) => other.Id !== id)
      .map(async (other) => {
        try {
          return (await engine.getContainer(other.Id).inspect()) as unknown as ContainerInspect;
        } catch (error) {
          if ((error as { statusCode?: number }).statusCode === 404) return undefined; // removed in the meantime
          throw error;
        }
      }),
  );
  return inspects.filter((inspect) => inspect !== undefined);
}

/** Go's `os.ModeDir`, as the engine's stat of a path uses it. */
const IS_FOLDER = 2 ** 31;
const DELETED = 2;

/**
 * Files that a container wrote outside its mounts, temporary ones and logs left out; none when its whole layer is within
 * the limit, and no more than it takes to pass the limit.
 */
export async function writtenFiles(engine: Docker, id: string, limit: number): Promise<WrittenFile[]> {
  const container = engine.getContainer(id);
  const { SizeRw = 0 } = (await container.inspect({ size: true } as object)) as { SizeRw?: number };
  if (SizeRw <= limit) return [];
  const changes = ((await container.changes()) ?? []) as { Path: string; Kind: number }[];
  const written: WrittenFile[] = [];
  let bytes = 0;
  for (const { Path, Kind } of changes) {
    if (Kind === DELETED || isTempOrLog(Path) || bytes > limit) continue;
    const { size, mode } = await pathStat(container, Path);
    if (mode >= IS_FOLDER) continue;
    written.push({ path: Path, bytes: size });
    bytes += size;
  }
  return written;
}

/** `HEAD /containers/{id}/archive` answers in a header. */
async function pathStat(container: Docker.Container, path: string): Promise<{ size: number; mode: number }> {
  const answer = (await container.infoArchive({ path })) as { headers?: Record<string, string> };
  const header = answer.headers?.['x-docker-container-path-stat'] ?? '';
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
}
