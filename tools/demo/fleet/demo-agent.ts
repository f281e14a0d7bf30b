import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Validator } from '@hoodcloud/testkit/chains/cometbft-network';
import { stringify } from 'yaml';
import type { DemoChain } from '../chain/demo-chain.ts';
import type { DemoFolder } from '../stage/demo-state.ts';

/** One host of the demo: a folder of its own with the agent's file, its state and the node's program. */
export interface DemoHost {
  readonly name: string;
  readonly validator: Validator;
  readonly configFile: string;
  readonly stateDir: string;
  readonly installPath: string;
}

/** The host of a validator; nothing is written yet. */
export function hostOf(folder: DemoFolder, chain: DemoChain, validator: Validator): DemoHost {
  const home = folder.at('hosts', validator.name);
  return {
    name: validator.name,
    validator,
    configFile: join(home, 'agent.yaml'),
    stateDir: join(home, 'agent-state'),
    installPath: join(home, 'bin', chain.binaryName),
  };
}

/** Installs the old release and writes the agent's file. For a host that a run finds made, only the file is written anew. */
export async function prepareHost(host: DemoHost, chain: DemoChain, gateway: string, fresh: boolean): Promise<void> {
  await mkdir(join(host.installPath, '..'), { recursive: true });
  await mkdir(host.stateDir, { recursive: true, mode: 0o700 });
  if (fresh) await copyFile(chain.releases.old.path, host.installPath);
  await writeFile(host.configFile, stringify(agentFile(host, chain, gateway)));
}

function agentFile({ validator, stateDir, installPath }: DemoHost, chain: DemoChain, gateway: string) {
  return {
    control_plane: { address: gateway }, // no TLS: everything stays on the loopback address
    state_dir: stateDir,
    allow_http_hosts: ['127.0.0.1'], // the demo's own artifact server
    components: [
      {
        binary_name: chain.binaryName,
        install_path: installPath,
        data_dir: validator.home,
        metrics_url: validator.metricsUrl,
        runtime: { type: 'process', command: [installPath, ...chain.startArguments(validator)] },
      },
    ],
  };
}
