import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { COMETBFT_ON_HOST } from '@hoodcloud/testkit/chains/cometbft-host';
import { defaultCacheDir } from '@hoodcloud/testkit/chains/go-binaries';
import type { FleetNode } from '../../e2e/cometbft-fleet.ts';

const run = promisify(execFile);
const VERSION = '2.17.14';
const SSHD = '/usr/sbin/sshd';
const { unit, binary } = COMETBFT_ON_HOST;

/** A lab host has an /etc of its own. */
const SERVE_SSH = `mkdir -p /run/sshd /etc/ssh
touch /etc/ssh/sshd_config
id sshd >/dev/null 2>&1 || useradd --system --home-dir /run/sshd --shell /usr/sbin/nologin sshd
ssh-keygen -A >/dev/null
${SSHD} -o PermitRootLogin=yes -o StrictModes=no`;

/** The steps of an upgrade as an operator's playbook has them, host after host. */
const PLAYBOOK = `- hosts: all
  serial: 1
  gather_facts: false
  any_errors_fatal: true
  tasks:
    - get_url: { url: '{{ url }}', checksum: 'sha256:{{ sha256 }}', dest: ${binary}.new, mode: '0755', force: true }
    - command: cp -p ${binary} ${binary}.bak
    - systemd: { name: ${unit}, state: stopped }
    - command: mv -T ${binary}.new ${binary}
    - systemd: { name: ${unit}, state: started, daemon_reload: true }
    - wait_for: { port: 26657, host: '{{ ansible_host }}', timeout: 60 }
    - wait_for: { timeout: '{{ stable }}' }
      when: stable | int > 0
`;

/** Ansible over ssh against hosts of the lab, each with its sshd. */
export class Ansible {
  readonly #program: string;
  readonly #folder: string;

  private constructor(program: string, folder: string) {
    this.#program = program;
    this.#folder = folder;
  }

  /** @throws when the machine has no sshd or Python */
  static async reach(nodes: readonly FleetNode[]): Promise<Ansible> {
    if (!existsSync(SSHD)) throw new Error('this machine has no sshd: apt-get install openssh-server');
    const program = await ensureAnsible();
    const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-ansible-'));
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')]);
    const key = await readFile(join(folder, 'key.pub'), 'utf8');
    for (const { host } of nodes) {
      await host.sh(SERVE_SSH);
      const home = (await host.sh('echo ~root')).trim();
      await host.writeFile(join(home, '.ssh/authorized_keys'), key, 0o600);
    }
    const lines = nodes.map(({ host }) => `${host.name} ansible_host=${host.ip}`);
    const vars = ['[all:vars]', 'ansible_user=root', `ansible_ssh_private_key_file=${join(folder, 'key')}`];
    await writeFile(
      join(folder, 'hosts.ini'),
      [...lines, ...vars, 'ansible_python_interpreter=/usr/bin/python3'].join('\n'),
    );
    await writeFile(join(folder, 'upgrade.yaml'), PLAYBOOK);
    return new Ansible(program, folder);
  }

  /** Upgrades every host, one after the other. @throws with what Ansible said */
  async upgrade(release: { readonly url: string; readonly sha256: string; readonly stableS: number }): Promise<void> {
    const { url, sha256, stableS } = release;
    const args = ['-i', join(this.#folder, 'hosts.ini'), join(this.#folder, 'upgrade.yaml')];
    const vars = JSON.stringify({ url, sha256, stable: stableS });
    const env = {
      ...process.env,
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      ANSIBLE_LOCALHOST_WARNING: 'False',
      LC_ALL: 'C.UTF-8',
    };
    await run(this.#program, [...args, '--extra-vars', vars], { env, maxBuffer: 16 << 20 }).catch((error) => {
      throw new Error(`ansible failed:\n${error.stdout}\n${error.stderr}`);
    });
  }

  async dispose(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** ansible-core from PyPI in an environment of its own, kept in the cache. */
async function ensureAnsible(): Promise<string> {
  const place = join(dirname(defaultCacheDir()), `ansible-${VERSION}`);
  const program = join(place, 'bin/ansible-playbook');
  if (existsSync(program)) return program;
  await mkdir(dirname(place), { recursive: true });
  await rm(place, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', place]); // its programs hold its path, so it can't be moved in
  await run(join(place, 'bin/pip'), ['install', '--quiet', `ansible-core==${VERSION}`]).catch(async (error) => {
    await rename(place, `${place}.failed`);
    throw error;
  });
  return program;
}
