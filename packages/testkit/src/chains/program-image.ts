import { readFile } from 'node:fs/promises';
import type { TestImage } from '../docker-lab/image-push.ts';
import { tarArchive } from '../docker-lab/tar-archive.ts';

/**
 * A chain's own image as publishers make it: one static program as the entrypoint, an unprivileged user, one volume.
 * @param path of the program on this machine
 * @param dataDir the volume, owned by uid and gid 1000
 */
export async function programImage(name: string, path: string, dataDir: string): Promise<TestImage> {
  const program = `/usr/local/bin/${name}`;
  const folders = ['usr/', 'usr/local/', 'usr/local/bin/', 'etc/'].map((folder) => ({
    name: folder,
    content: 'folder' as const,
  }));
  const layer = tarArchive([
    ...folders,
    { name: 'tmp/', mode: 0o1777, content: 'folder' },
    { name: 'etc/passwd', mode: 0o644, content: { file: `root:x:0:0::/:\n${name}:x:1000:1000::${dataDir}:\n` } },
    { name: `${dataDir.slice(1)}/`, owner: 1000, content: 'folder' },
    { name: program.slice(1), content: { file: await readFile(path) } },
  ]);
  return {
    layers: [layer],
    config: { Entrypoint: [program], User: '1000:1000', Volumes: { [dataDir]: {} }, WorkingDir: dataDir },
  };
}
