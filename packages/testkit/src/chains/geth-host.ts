import { readFile } from 'node:fs/promises';
import type { Host } from '../host-lab/lab-host.ts';

/** Where a geth node lives inside a lab host. */
export const GETH_ON_HOST = {
  unit: 'geth.service',
  user: 'geth',
  binary: '/usr/local/bin/geth',
  dataDir: '/var/lib/geth',
} as const;

/** A chain of one developer node that makes a block each second and keeps its data on disk. */
export function gethArguments(dataDir: string): string[] {
  const http = ['--http', '--http.addr', '0.0.0.0', '--http.vhosts', '*', '--http.api', 'eth,net,web3'];
  return [
    '--dev',
    '--dev.period',
    '1',
    '--datadir',
    dataDir,
    ...http,
    '--metrics',
    '--metrics.addr',
    '0.0.0.0',
    '--ipcdisable',
  ];
}

/** Where a geth node of a lab host answers. */
export function gethUrls(host: Host): { readonly rpcUrl: string; readonly metricsUrl: string } {
  return { rpcUrl: `http://${host.ip}:8545`, metricsUrl: `http://${host.ip}:6060/debug/metrics/prometheus` };
}

const UNIT_FILE = `[Unit]
Description=geth
After=network-online.target
Wants=network-online.target

[Service]
Type=simple
User=${GETH_ON_HOST.user}
Group=${GETH_ON_HOST.user}
WorkingDirectory=${GETH_ON_HOST.dataDir}
ExecStart=${GETH_ON_HOST.binary} ${gethArguments(GETH_ON_HOST.dataDir).join(' ')}
Restart=always
RestartSec=5
KillSignal=SIGINT
TimeoutStopSec=180

[Install]
WantedBy=multi-user.target
`;

/** Installs geth as operators do: a user of its own and an enabled unit. Started. */
export async function installGeth(host: Host, binary: string): Promise<void> {
  const { user, dataDir, unit } = GETH_ON_HOST;
  await host.sh(`useradd --system --home-dir ${dataDir} --shell /usr/sbin/nologin ${user}
mkdir -p ${dataDir}; chown ${user}: ${dataDir}`);
  await host.writeFile(GETH_ON_HOST.binary, await readFile(binary), 0o755);
  await host.writeFile(`/etc/systemd/system/${unit}`, UNIT_FILE);
  await host.sh(`systemctl daemon-reload; systemctl enable -q --now ${unit}`);
}
