import { createHash } from 'node:crypto';
import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { joinAt } from '@hoodcloud/controlplane/gateway/testing/wire-agent';
import { SimulatedAgent, UNWATCHED } from '@hoodcloud/testkit/fleet-simulator/simulated-agent';
import { ALL_GOOD } from '@hoodcloud/testkit/fleet-simulator/upgrade-script';
import { until } from '@hoodcloud/testkit/until';
import { manifestFor, writeChain, writeManifest } from '../e2e/stack/chain-folder.ts';
import type { ControlPlane } from '../e2e/stack/control-plane.ts';
import { NODE_TYPE } from '../e2e/stack/tiny-host.ts';
import type { TinyRelease } from '../e2e/stack/tiny-release.ts';
import type { OperatorApi } from './operator-api.ts';

/** A release that nobody downloads. */
function releaseNamed(version: string): TinyRelease {
  const content = Buffer.from(version);
  return { version, content, checksum: `sha256:${createHash('sha256').update(content).digest('hex')}` };
}

/** `v1` is what runs in the beginning, `v2` what the first rollout brings, and so on. */
export const releaseOf = (round: number) => releaseNamed(`v${round + 1}`);
const BEFORE = releaseOf(0);

const HEARTBEAT_MS = 1_000;

export interface FleetSizes {
  readonly chains: number;
  /** Of each chain. */
  readonly nodes: number;
  readonly upgradeMs: number;
  /** Where agents find gateways, each beginning with another one; the control plane's own when left out. */
  readonly gateways?: readonly string[];
  /** So many rollouts one after the other have a release to bring; 1 when left out. */
  readonly rounds?: number;
}

/** Chains with nodes whose agents are simulated, joined as an operator joins them. */
export class Fleet {
  readonly agents: readonly SimulatedAgent[];
  readonly chains: readonly string[];
  readonly #api: OperatorApi;

  private constructor(agents: readonly SimulatedAgent[], chains: readonly string[], api: OperatorApi) {
    this.agents = agents;
    this.chains = chains;
    this.#api = api;
  }

  static async join(plane: ControlPlane, api: OperatorApi, sizes: FleetSizes): Promise<Fleet> {
    const chains = Array.from({ length: sizes.chains }, (_, index) => `chain-${index + 1}`);
    const agents: SimulatedAgent[] = [];
    for (const chain of chains) {
      const releases = Array.from({ length: (sizes.rounds ?? 1) + 1 }, (_, round) => releaseOf(round));
      writeChain(plane.configDir, chain, { known: releases });
      for (const release of releases.slice(1)) {
        const url = `https://releases.example.org/${release.version}`;
        writeManifest(plane.configDir, manifestFor(chain, release, url));
      }
      for (let number = 1; number <= sizes.nodes; number += 1) {
        agents.push(await joinNode(plane, api, { ...sizes, chain, name: `${chain}-${number}`, turn: number }));
      }
    }
    for (const agent of agents) agent.start();
    await until('every node to be healthy', async () => {
      const states = (await plane.db.selectFrom('nodes').select('state').execute()).map(({ state }) => state);
      if (states.every((state) => state === 'healthy')) return true;
      throw new Error(states.join(' '));
    });
    return new Fleet(agents, chains, api);
  }

  /** Creates and starts a rollout of the round's release on every chain, or on these. @returns their ids */
  async startRollouts(
    options: { readonly batchSize?: number; readonly round?: number; readonly chains?: readonly string[] } = {},
  ): Promise<string[]> {
    const { batchSize, round = 1, chains = this.chains } = options;
    return Promise.all(
      chains.map(async (chain) => {
        const upgrade = { upgrade_id: releaseOf(round).version, strategy: 'rolling', offline_policy: 'wait' };
        const size = batchSize === undefined ? {} : { batch_size: batchSize };
        const wanted = { chain_profile_id: chain, node_type: NODE_TYPE, ...upgrade, ...size };
        const { id } = await this.#api.post<RolloutDetail>('/rollouts', wanted);
        await this.start(id);
        return id;
      }),
    );
  }

  async start(rolloutId: string): Promise<void> {
    await this.#api.post(`/rollouts/${rolloutId}/start`, {});
  }

  stop(): void {
    for (const agent of this.agents) agent.stop();
  }
}

/** Registers a node and joins an agent for it, which does not run yet. */
export async function joinNode(
  plane: ControlPlane,
  api: OperatorApi,
  {
    chain,
    name,
    upgradeMs,
    gateways = [plane.gateway],
    turn = 0,
  }: {
    readonly chain: string;
    readonly name: string;
    readonly upgradeMs: number;
    readonly gateways?: readonly string[];
    /** Which of the gateways it dials first. */
    readonly turn?: number;
  },
): Promise<SimulatedAgent> {
  const node = await api.post<NodeView>('/nodes', { name, chain_profile_id: chain, node_type: NODE_TYPE });
  const { join_token: token } = await api.post<JoinTokenView>(`/nodes/${node.id}/join-token`, {});
  const { credential } = await joinAt(plane.gateway, token);
  return new SimulatedAgent(
    { nodeId: node.id, credential },
    {
      gateways,
      tls: null,
      binaryName: 'tinynode',
      running: BEFORE.checksum,
      heightMetric: 'tiny_height',
      heartbeatMs: HEARTBEAT_MS,
      script: { ...ALL_GOOD, upgradeMs: [upgradeMs, upgradeMs] },
      watch: UNWATCHED,
    },
    turn,
  );
}
