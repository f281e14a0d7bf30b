import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir } from '@hoodcloud/testkit/chains/go-binaries';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';

const run = promisify(execFile);
const MODULE = 'github.com/docker/compose/v2';
const RELEASE = 'v2.40.3';
/** Where it lies on a host. */
export const COMPOSE = '/usr/local/bin/docker-compose';

/**
 * Compose 2 on a host. Built with Go from its module, since Debian has version 1 only; `go install` refuses it for the
 * exclusions in its go.mod. The first time it takes some minutes.
 */
export async function installCompose(host: Host): Promise<void> {
  await host.writeFile(COMPOSE, await readFile(await ensureCompose()), 0o755);
}

async function ensureCompose(): Promise<string> {
  const path = join(defaultCacheDir(), `compose-${RELEASE}`);
  if (existsSync(path)) return path;
  console.log(`building Compose ${RELEASE}, some minutes`);
  await mkdir(defaultCacheDir(), { recursive: true });
  const { stdout } = await run('go', ['mod', 'download', '-json', `${MODULE}@${RELEASE}`]);
  const unfinished = `${path}.${process.pid}`;
  const args = [
    'build',
    '-C',
    JSON.parse(stdout).Dir,
    '-trimpath',
    '-buildvcs=false',
    '-ldflags=-s -w',
    '-o',
    unfinished,
  ];
  await run('go', [...args, './cmd'], { env: { ...process.env, CGO_ENABLED: '0' }, maxBuffer: 16 << 20 });
  await rename(unfinished, path);
  return path;
}
