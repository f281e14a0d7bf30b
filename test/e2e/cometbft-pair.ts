import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CometbftBinary } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { COMETBFT_ON_HOST } from '@hoodcloud/testkit/chains/cometbft-host';
import { rpc, status } from '@hoodcloud/testkit/chains/cometbft-rpc';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type { FleetNode } from './cometbft-fleet.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/chains/', import.meta.url));
export const PAIR_CHAIN = 'cometbft-pair';

/** Where the light client of a validator lives inside a lab host. */
export const LIGHT_ON_HOST = {
  unit: 'cometbft-light.service',
  binary: '/usr/local/bin/cometbft-light',
  home: '/var/lib/cometbft-light',
  port: 8888,
} as const;

/** Its entry in the agent's file. */
export const LIGHT_COMPONENT = `  - binary_name: cometbft-light
    install_path: ${LIGHT_ON_HOST.binary}
    data_dir: ${LIGHT_ON_HOST.home}
    runtime: { type: systemd, unit: ${LIGHT_ON_HOST.unit} }
`;

/** What stands in the example for the two releases, and waits that are short enough for a test. */
function made(
  running: CometbftBinary,
  target: CometbftBinary,
  targetUrl: string,
): readonly (readonly [string, string])[] {
  const placeholder = (end: string) => `sha256:${end.padStart(64, '0')}`;
  return [
    [placeholder('3817'), `sha256:${running.sha256}`],
    [placeholder('3821'), `sha256:${target.sha256}`],
    ['https://releases.example.org/cometbft/v0.38.21/cometbft-linux-amd64', targetUrl],
    ['health_wait_seconds: 60', 'health_wait_seconds: 4'],
    ['stable_seconds: 10', 'stable_seconds: 3'],
  ];
}

/** Copies the example of the pair into a config folder. @returns the file of its group */
export async function writePair(
  configDir: string,
  running: CometbftBinary,
  target: CometbftBinary,
  targetUrl: string,
): Promise<string> {
  const replacements = made(running, target, targetUrl);
  for (const folder of [PAIR_CHAIN, join('upgrades', PAIR_CHAIN)]) {
    await cp(join(EXAMPLES, folder), join(configDir, folder), { recursive: true });
    for (const name of await readdir(join(configDir, folder))) {
      const file = join(configDir, folder, name);
      const text = replacements.reduce((all, [from, to]) => all.replaceAll(from, to), await readFile(file, 'utf8'));
      await writeFile(file, text);
    }
  }
  return join(configDir, PAIR_CHAIN, 'group.yaml');
}

/** Installs the light client of a host's validator, which watches `witness` too, and starts it: its chain makes blocks. */
export async function installLight({ host, validator }: FleetNode, binary: string, witness: string): Promise<void> {
  const { rpcUrl } = validator;
  const { chainId } = await status(rpcUrl);
  const first = (await rpc(rpcUrl, 'commit?height=1')) as {
    signed_header: { commit: { block_id: { hash: string } } };
  };
  const { unit, home, port } = LIGHT_ON_HOST;
  const trusted = `--height 1 --hash ${first.signed_header.commit.block_id.hash}`;
  const command = `${LIGHT_ON_HOST.binary} light ${chainId} -p ${rpcUrl} -w ${witness} ${trusted}`;
  await host.writeFile(LIGHT_ON_HOST.binary, await readFile(binary), 0o755);
  await host.writeFile(
    `/etc/systemd/system/${unit}`,
    `[Unit]
After=${COMETBFT_ON_HOST.unit}
[Service]
User=${COMETBFT_ON_HOST.user}
ExecStart=${command} --home-dir ${home} --laddr tcp://0.0.0.0:${port}
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
`,
  );
  await host.sh(`mkdir -p ${home}; chown ${COMETBFT_ON_HOST.user}: ${home}
systemctl daemon-reload; systemctl enable -q --now ${unit}`);
}

/** The height that the light client of a host has verified last. @throws while it or its validator doesn't answer */
export async function verifiedHeight({ ip }: Host): Promise<number> {
  const answer = (await rpc(`http://${ip}:${LIGHT_ON_HOST.port}`, 'commit')) as {
    signed_header: { header: { height: string } };
  };
  return Number(answer.signed_header.header.height);
}
