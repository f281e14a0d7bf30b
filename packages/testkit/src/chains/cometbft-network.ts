import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTomlKey } from './toml-edit.ts';

const run = promisify(execFile);

/** Power of each validator: with 1 each, integer division lets any one leave block sync far behind the tip. */
const POWER = '100';
const PREFIX = 'validator';

/** Where one validator listens. Ports of validators that share a host must differ. */
export interface ValidatorPlace {
  /** Shown as the node's moniker. */
  readonly name: string;
  /** The address at which its peers and its watchers reach it. */
  readonly host: string;
  readonly p2pPort: number;
  readonly rpcPort: number;
  readonly metricsPort: number;
}

/** A validator ready to start with `cometbft start --home <home>`. */
export interface Validator extends ValidatorPlace {
  /** The folder with its keys, genesis and configuration. */
  readonly home: string;
  readonly rpcUrl: string;
  readonly metricsUrl: string;
  /** The address under which it signs, upper-case hex. */
  readonly address: string;
}

export interface NetworkPlan {
  /** The executable that writes the files; a validator of a later patch release reads them as well. */
  readonly binary: string;
  /** Holds one folder a validator afterwards; must not exist or be empty. */
  readonly dir: string;
  readonly places: readonly ValidatorPlace[];
  /** Pause after a block; 500 ms give a block every 0.8 to 1.1 s. */
  readonly commitTimeoutMs?: number;
  /** How long the others wait for an absent proposer before they go on without it; CometBFT's own default is 3000. */
  readonly proposeTimeoutMs?: number;
}

/** The ports a validator uses when it has a host of its own. */
export const DEFAULT_PORTS = { p2pPort: 26656, rpcPort: 26657, metricsPort: 26660 } as const;

/** The places of N validators on the loopback address, three consecutive ports each from `firstPort` on. */
export function loopbackPlaces(count: number, firstPort: number): ValidatorPlace[] {
  return Array.from({ length: count }, (_, index) => {
    const p2pPort = firstPort + index * 3;
    return {
      name: `${PREFIX}-${index + 1}`,
      host: '127.0.0.1',
      p2pPort,
      rpcPort: p2pPort + 1,
      metricsPort: p2pPort + 2,
    };
  });
}

/** Writes keys, genesis and configuration of a new network in which every validator is a peer of every other. */
export async function createNetwork(plan: NetworkPlan): Promise<Validator[]> {
  const { binary, dir, places } = plan;
  const hosts = places.flatMap(({ host }) => ['--hostname', host]);
  await run(binary, ['testnet', '--v', `${places.length}`, '--o', dir, '--node-dir-prefix', PREFIX, ...hosts]);
  const homes = places.map((_, index) => join(dir, `${PREFIX}${index}`));
  const peers = peerList(await readFile(join(homes[0] ?? dir, 'config', 'config.toml'), 'utf8'), places);
  return Promise.all(places.map((place, index) => configure(place, homes[index] ?? dir, peers, plan)));
}

async function configure(place: ValidatorPlace, home: string, peers: string, plan: NetworkPlan): Promise<Validator> {
  await edit(join(home, 'config', 'config.toml'), (toml) => applySettings(toml, settings(place, peers, plan)));
  await edit(join(home, 'config', 'genesis.json'), (json) => json.replaceAll('"power": "1"', `"power": "${POWER}"`));
  const key = JSON.parse(await readFile(join(home, 'config', 'priv_validator_key.json'), 'utf8'));
  return {
    ...place,
    home,
    rpcUrl: `http://${place.host}:${place.rpcPort}`,
    metricsUrl: `http://${place.host}:${place.metricsPort}/metrics`,
    address: String(key.address),
  };
}

type Setting = readonly [section: string, key: string, value: string | boolean];

function settings(
  place: ValidatorPlace,
  peers: string,
  { commitTimeoutMs = 500, proposeTimeoutMs = 3000 }: NetworkPlan,
): Setting[] {
  return [
    ['', 'moniker', place.name],
    ['', 'proxy_app', 'persistent_kvstore'],
    ['rpc', 'laddr', `tcp://${place.host}:${place.rpcPort}`],
    ['rpc', 'pprof_laddr', ''],
    ['p2p', 'laddr', `tcp://${place.host}:${place.p2pPort}`],
    ['p2p', 'persistent_peers', peers],
    ['p2p', 'allow_duplicate_ip', true],
    ['p2p', 'addr_book_strict', false],
    ['consensus', 'timeout_propose', `${proposeTimeoutMs}ms`],
    ['consensus', 'timeout_commit', `${commitTimeoutMs}ms`],
    ['instrumentation', 'prometheus', true],
    ['instrumentation', 'prometheus_listen_addr', `${place.host}:${place.metricsPort}`],
  ];
}

function applySettings(toml: string, changes: readonly Setting[]): string {
  return changes.reduce((text, [section, key, value]) => setTomlKey(text, section, key, value), toml);
}

/** `testnet` knows one p2p port for all, so its list gives the ids and the places give the addresses. */
function peerList(toml: string, places: readonly ValidatorPlace[]): string {
  const ids = [...toml.matchAll(/([0-9a-f]{40})@/g)].map((match) => match[1]);
  return places.map(({ host, p2pPort }, index) => `${ids[index]}@${host}:${p2pPort}`).join(',');
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')));
}
