import type { JoinTokenView } from '@hoodcloud/contracts/http/nodes';
import { COMETBFT_ON_HOST, installCometbft } from '@hoodcloud/testkit/chains/cometbft-host';
import { createNetwork, DEFAULT_PORTS, type Validator } from '@hoodcloud/testkit/chains/cometbft-network';
import { installAgent } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { CHAIN } from './cometbft-chain-files.ts';
import type { ControlPlane } from './stack/control-plane.ts';

/** One validator on a host of its own. */
export interface FleetNode {
  readonly host: Host;
  readonly validator: Validator;
}

/** Brings up a live network, one validator a host under its own systemd; blocks come when most of them run. */
export async function startFleet(
  lab: HostLab,
  names: readonly string[],
  binary: string,
  dir: string,
): Promise<FleetNode[]> {
  const hosts = await Promise.all(names.map((name) => lab.up(name)));
  const places = hosts.map(({ name, ip }) => ({ name, host: ip, ...DEFAULT_PORTS }));
  const validators = await createNetwork({ binary, dir, places, proposeTimeoutMs: 1_000 });
  const fleet = hosts.flatMap((host, index) => {
    const validator = validators[index];
    return validator === undefined ? [] : [{ host, validator }];
  });
  for (const { host, validator } of fleet) await installCometbft(host, validator, binary);
  await Promise.all(fleet.map(({ host }) => host.must('systemctl', 'start', COMETBFT_ON_HOST.unit)));
  return fleet;
}

/**
 * Adds each host as a node and joins its agent by a one-time token.
 * @param options.companion the agent's entry for another program of each host
 */
export async function joinFleet(
  fleet: readonly FleetNode[],
  plane: ControlPlane,
  artifactHost: string,
  { chain = CHAIN, companion = '' } = {},
): Promise<void> {
  for (const { host, validator } of fleet) {
    await plane.hoodctl.does('node', 'add', host.name, '--chain', chain, '--type', 'validator');
    const { join_token } = await plane.hoodctl.asks<JoinTokenView>('node', 'join-token', host.name);
    await installAgent(host, agentConfig(plane.gateway, artifactHost, validator) + companion, join_token);
  }
}

function agentConfig(gateway: string, artifactHost: string, { metricsUrl }: Validator): string {
  return `control_plane: { address: '${gateway}' }
state_dir: /var/lib/hoodcloud
allow_http_hosts: [${artifactHost}]
components:
  - binary_name: cometbft
    install_path: ${COMETBFT_ON_HOST.binary}
    data_dir: ${COMETBFT_ON_HOST.home}
    config_roots: [${COMETBFT_ON_HOST.home}/config]
    metrics_url: ${metricsUrl}
    runtime: { type: systemd, unit: ${COMETBFT_ON_HOST.unit} }
`;
}

/** SHA-256 of what a unit's main process runs, from its host's `/proc`; the validator's unit when none is named. */
export async function runningSha256({ host }: FleetNode, unit: string = COMETBFT_ON_HOST.unit): Promise<string> {
  const pid = (await host.must('systemctl', 'show', unit, '-p', 'MainPID', '--value')).trim();
  return (await host.must('sha256sum', `/proc/${pid}/exe`)).split(' ')[0] ?? '';
}
