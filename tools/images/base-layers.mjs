import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, findOnPath } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { SetupError } from '../bootstrap/setup-error.mjs';
import { step } from '../bootstrap/step.mjs';

const SUITE = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian'; // apt checks every package against Debian's keys
const NOBODY = 'nonroot:x:65532:65532::/nonexistent:/usr/sbin/nologin';

/** Root file systems: what Node needs and nothing else, or a small Debian with the servers that a stack needs. */
const ROOTS = {
  controlplane: [
    '--variant=extract',
    '--include=libc6,libstdc++6,libgcc-s1',
    `--customize-hook=mkdir -p "$1/etc" "$1/tmp" && chmod 1777 "$1/tmp" && echo "${NOBODY}" >"$1/etc/passwd" && echo nonroot:x:65532: >"$1/etc/group"`,
  ],
  'stand-ins': [
    '--variant=essential',
    '--include=postgresql-15,nats-server,prometheus,socat,busybox-static',
    // a cluster is made when a container starts, and no service starts here
    `--setup-hook=mkdir -p "$1/etc/postgresql-common" "$1/usr/sbin" && echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf" && printf '#!/bin/sh\\nexit 101\\n' >"$1/usr/sbin/policy-rc.d" && chmod 755 "$1/usr/sbin/policy-rc.d"`,
    // named volumes take the owner of what they cover
    '--customize-hook=cd "$1" && mkdir -p data prometheus var/lib/postgresql/data && chown 65532:65532 data prometheus && chmod 700 var/lib/postgresql/data && chown --reference=var/lib/postgresql var/lib/postgresql/data && chroot . chown postgres:postgres /var/lib/postgresql/data',
  ],
};
const WITHOUT = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);

/**
 * A root file system of Debian packages as a tar, from the cache when it was made before.
 * @param {'controlplane' | 'stand-ins'} name
 * @returns {Promise<string>} its path
 */
export async function baseLayer(name) {
  const flags = [...ROOTS[name], ...WITHOUT];
  const hash = createHash('sha256').update(flags.join('\0')).digest('hex').slice(0, 12);
  const target = join(cacheDir(), `rootfs-${name}-${hash}.tar`);
  if (existsSync(target)) return target;
  needRoot();
  await needMmdebstrap();
  const unfinished = `${target}.${process.pid}.tar`;
  mkdirSync(cacheDir(), { recursive: true });
  await step(`Making a root file system of Debian packages for ${name}`, '15-120 s', async () => {
    const { code, output } = await runCollected('mmdebstrap', [...flags, SUITE, unfinished, MIRROR]);
    if (code !== 0) {
      rmSync(unfinished, { force: true });
      throw new SetupError(
        `mmdebstrap failed:\n${output.trimEnd()}`,
        'read the lines above; most often the mirror was out of reach.',
      );
    }
  });
  renameSync(unfinished, target);
  return target;
}

function needRoot() {
  if (process.getuid() === 0) return;
  throw new SetupError(
    'root file systems are made as root.',
    'run it as root, or build deploy/images/Dockerfile, which takes public images.',
  );
}

async function needMmdebstrap() {
  if (findOnPath('mmdebstrap')) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await runCollected('apt-get', ['update', '-qq'], { env });
  const { code, output } = await runCollected(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', 'mmdebstrap'],
    { env },
  );
  if (code !== 0)
    throw new SetupError(`mmdebstrap could not be installed:\n${output.trimEnd()}`, 'apt-get install mmdebstrap');
}
