import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Host } from '../host-lab/lab-host.ts';
import type { Validator } from './cometbft-network.ts';

/** Where a validator lives inside a lab host. */
export const COMETBFT_ON_HOST = {
  unit: 'cometbft.service',
  user: 'cometbft',
  binary: '/usr/local/bin/cometbft',
  home: '/var/lib/cometbft',
} as const;

const UNIT_FILE = `[Unit]
Description=CometBFT validator
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User=cometbft
Group=cometbft
WorkingDirectory=/var/lib/cometbft
ExecStart=/usr/local/bin/cometbft start --home /var/lib/cometbft
Restart=always
RestartSec=3
LimitNOFILE=20000
TimeoutStopSec=60
KillSignal=SIGTERM

[Install]
WantedBy=multi-user.target
`;

/** Installs a validator as operators do: a user of its own, an enabled unit, keys readable by that user. Not started. */
export async function installCometbft(host: Host, validator: Validator, binary: string): Promise<void> {
  const { home, user, unit } = COMETBFT_ON_HOST;
  await host.sh(`useradd --system --home-dir ${home} --shell /usr/sbin/nologin ${user}`);
  await putHome(host, validator, home, `${user}:`);
  await host.writeFile(COMETBFT_ON_HOST.binary, await readFile(binary), 0o755);
  await host.writeFile(`/etc/systemd/system/${unit}`, UNIT_FILE);
  await host.sh(`systemctl daemon-reload; systemctl enable -q ${unit}`);
}

/** Puts a validator's keys, genesis and configuration into a folder of the host; `owner` as chown wants it. */
export async function putHome(host: Host, validator: Validator, folder: string, owner: string): Promise<void> {
  for (const file of await filesBelow(validator.home)) {
    await host.writeFile(join(folder, relative(validator.home, file)), await readFile(file), 0o600);
  }
  await host.sh(`chown -R ${owner} ${folder}; chmod -R u+rwX,go= ${folder}`);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
