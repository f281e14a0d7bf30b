import { existsSync } from 'node:fs';
import { findOnPath } from '../../bootstrap/paths.mjs';
import { runCollected } from '../../bootstrap/run-command.mjs';
import { step } from '../../bootstrap/step.mjs';

/** Debian packages that the browser tests need; what they draw needs a font. */
const WEB_PACKAGES = { chromium: 'chromium', 'fonts-dejavu-core': '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf' };

/**
 * The tiers in the order they run; vitest.config.ts has a project of the same name for each (docs/testing.md).
 */
export const TIERS = {
  unit: { what: 'pure rules and everything that needs no server', stores: false, hosts: false },
  db: { what: 'real Postgres', stores: true, hosts: false },
  workflow: { what: 'real Temporal server and Postgres', stores: true, hosts: false },
  host: { what: 'agent and adapters on real systemd hosts', stores: true, hosts: true },
  crash: { what: 'upgrades torn apart: crashes, power, disk, network', stores: true, hosts: true },
  e2e: { what: 'all roles, real agents, a live chain', stores: true, hosts: true },
  web: { what: 'the dashboard in a real browser', stores: true, hosts: false, packages: WEB_PACKAGES },
};

/** Debian package → a program or file it brings. What the host lab and the Docker lab need. */
const DEBIAN_PACKAGES = {
  systemd: '/lib/systemd/systemd',
  dbus: 'dbus-daemon',
  iproute2: 'ip',
  iptables: 'iptables',
  'util-linux': 'nsenter',
  strace: 'strace',
  'busybox-static': 'busybox',
  procps: 'ps',
  'docker.io': 'dockerd',
  'docker-registry': 'docker-registry',
  'docker-compose': 'docker-compose',
  podman: 'podman',
  prometheus: 'promtool',
};

/** The same for programs that tests of servers start. */
const SERVER_PACKAGES = { 'nats-server': 'nats-server' };

/**
 * Installs what a tier needs from apt when we may.
 * @returns {Promise<string | undefined>} why the tier can't run on this machine, or undefined when it can
 */
export async function prepareTier(tier) {
  const { hosts, stores, packages = SERVER_PACKAGES } = TIERS[tier];
  if (!hosts) return stores ? prepareServers(packages) : undefined;
  if (process.platform !== 'linux')
    return 'it boots real systemd hosts, which needs Linux; run it in a Debian VM or container.';
  if (process.getuid() !== 0)
    return 'it boots real systemd hosts, which needs root; run it as root on a Debian machine kept for tests.';
  const missing = missingPackages({ ...DEBIAN_PACKAGES, ...SERVER_PACKAGES });
  const canInstall = findOnPath('apt-get') !== undefined;
  if (missing.length > 0 && !canInstall)
    return `these are missing and no apt-get can bring them: ${missing.join(', ')}.`;
  const refusal = missing.length > 0 ? await installPackages(missing) : undefined;
  if (!refusal && findOnPath('go')) await buildChain();
  return refusal;
}

/** The live chain's programs, before any test's clock runs. Where they can't be built, the tests that need them say so. */
async function buildChain() {
  await step(
    'Making sure of the CometBFT and geth releases that tests upgrade between',
    '1 s, the first time 5-8 min',
    async () => {
      const { code, output } = await runCollected(process.execPath, [
        '--import',
        'tsx',
        'tools/chains/build-chains.ts',
      ]);
      if (code !== 0) console.error(output);
    },
  );
}

/** Installs the servers' programs where we may; a test that then still lacks one fails by its own message. */
async function prepareServers(packages) {
  const missing = missingPackages(packages);
  const mayInstall = process.platform === 'linux' && process.getuid() === 0 && findOnPath('apt-get') !== undefined;
  if (missing.length === 0 || !mayInstall) return undefined;
  return installPackages(missing);
}

function missingPackages(packages) {
  return Object.entries(packages)
    .filter(([, proof]) => (proof.startsWith('/') ? !existsSync(proof) : !findOnPath(proof)))
    .map(([name]) => name);
}

async function installPackages(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return step(`Installing ${names.join(', ')} with apt-get`, '10-30 s', async () => {
    const update = await runCollected('apt-get', ['update', '-qq'], { env });
    const install = await runCollected('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
      env,
    });
    if (install.code === 0) return undefined;
    console.error(update.output + install.output);
    return `apt-get could not install ${names.join(', ')} (see above); install them by hand and run this again.`;
  });
}
