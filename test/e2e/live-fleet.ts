import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { type CometbftBinary, ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { createLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { until } from '@hoodcloud/testkit/until';
import { CHAIN, cometbftChain, versionOf } from './cometbft-chain-files.ts';
import { type FleetNode, joinFleet, startFleet } from './cometbft-fleet.ts';
import { ControlPlane } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { type RealChain, writeRealChain } from './stack/real-chain.ts';
import { type Stores, sharedStores } from './stack/stores.ts';

/** A live chain of validators, each on a systemd host of its own, whose agents have joined a control plane. */
export interface LiveFleet {
  readonly plane: ControlPlane;
  readonly programs: Programs;
  readonly nodes: readonly FleetNode[];
  /** What runs at first, and what manifests offer beside it. */
  readonly old: CometbftBinary;
  readonly next: CometbftBinary;
  dispose(): Promise<void>;
}

export interface LiveFleetOptions {
  /** The profile's `quorum`; left out: none is guarded. */
  readonly quorum?: RealChain['quorum'];
  /** Laid over the profile's `health`. */
  readonly health?: RealChain['health'];
  /** Done to each running validator before its agent joins. */
  readonly prepare?: (node: FleetNode) => Promise<void>;
}

/** Brings it up with v0.38.17, offers that and v0.38.21, and returns when every node is judged healthy. */
export async function startLiveFleet(
  names: readonly string[],
  { quorum, health, prepare }: LiveFleetOptions = {},
): Promise<LiveFleet> {
  const undo: (() => unknown)[] = [];
  const dispose = async () => {
    for (const step of undo.reverse()) await step();
  };
  try {
    const { 'v0.38.17': old, 'v0.38.21': next } = await ensureCometbftReleases(['v0.38.17', 'v0.38.21']);
    const folder = await mkdtemp(join(tmpdir(), 'live-fleet-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const lab = await createLab();
    undo.push(() => lab.clean());
    const nodes = await startFleet(lab, names, old.path, join(folder, 'network'));
    if (prepare) await Promise.all(nodes.map(prepare));
    const artifacts = await ArtifactServer.listen(lab.controlAddress);
    undo.push(() => artifacts.close());
    const programs = await bundlePrograms();
    undo.push(() => programs.dispose());
    const stores: Stores = await sharedStores();
    undo.push(() => stores.dispose());
    const plane = await ControlPlane.start({ programs, ...stores, bind: lab.controlAddress, heartbeatSeconds: 1 });
    undo.push(() => plane.dispose());
    const targets = await Promise.all(
      [old, next].map(async (release) => ({
        ...versionOf(release),
        url: artifacts.publish(`cometbft-${release.release}`, await readFile(release.path)),
      })),
    );
    const chain = cometbftChain(CHAIN, 'systemd');
    const wanted = { ...chain.health, health_wait_seconds: 2, stable_seconds: 2, ...health };
    await writeRealChain(
      plane.configDir,
      { ...chain, health: wanted, ...(quorum && { quorum }) },
      versionOf(old),
      targets,
    );
    await joinFleet(nodes, plane, lab.controlAddress);
    await until('every validator to be healthy and known by its version', async () => {
      const { items } = await plane.hoodctl.get<Page<NodeView>>('/nodes');
      return items.length === nodes.length && items.every((node) => isWell(node, old.release));
    });
    return { plane, programs, nodes, old, next, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function isWell({ online, state, components }: NodeView, version: string): boolean {
  return online && state === 'healthy' && components[0]?.binary_version === version;
}
