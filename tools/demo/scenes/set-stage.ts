import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { HeightWatcher } from '@hoodcloud/testkit/chains/height-watcher';
import { ChainFiles } from '../chain/chain-files.ts';
import { cometbftChain, cometbftReleases } from '../chain/cometbft-chain.ts';
import type { DemoChain } from '../chain/demo-chain.ts';
import { startControlPlane } from '../control-plane/start-control-plane.ts';
import { fleetIsKnown, joinFleet } from '../fleet/join-fleet.ts';
import { Operator } from '../stage/operator.ts';
import type { SetStage, Stage } from '../stage/stage.ts';
import { until } from '../stage/until.ts';
import { standInChain } from '../stand-in/stand-in-chain.ts';
import { standInReleases } from '../stand-in/stand-in-releases.ts';
import { refuseOpenRollout } from './left-over.ts';

const BLOCKS_MS = 120_000;

/** Releases, chain, control plane, fleet: afterwards a living chain of four validators is managed by the product. */
export async function setStage(stage: Stage): Promise<SetStage> {
  const { folder, ports, cast, narrator, interrupted } = stage;
  narrator.scene('A control plane, a chain of four validators, and an agent beside each');
  const artifacts = await ArtifactServer.listen('127.0.0.1', ports.artifacts);
  cast.add('artifact server', () => artifacts.close());
  const chainFolder = folder.at('chains');
  // The control plane comes up while the releases are built.
  const [controlPlane, chain] = await Promise.all([startControlPlane(stage, chainFolder), makeChain(stage)]);
  const files = new ChainFiles(chain, chainFolder, artifacts);
  await files.writeProfile();
  const operator = new Operator(controlPlane, narrator, interrupted);
  await refuseOpenRollout(operator);
  await joinFleet(stage, chain, operator);
  await chainLives(stage, chain);
  await fleetIsKnown(stage, operator);
  // From here on the chain must not stand still; its birth, node by node, is no part of the record.
  const heights = watchHeights(stage, chain);
  return { ...stage, controlPlane, chain, files, operator, heights };
}

async function makeChain({ folder, ports, narrator, interrupted, chainKind }: Stage): Promise<DemoChain> {
  if (chainKind === 'cometbft') {
    return cometbftChain(folder, await cometbftReleases(narrator, interrupted), ports.firstValidator);
  }
  narrator.say('A stand-in chain of our own is shown: with Go on the PATH it would be real CometBFT.');
  return standInChain(folder, await standInReleases(folder.at('releases')), ports.firstValidator);
}

function watchHeights({ cast }: Stage, { validators }: DemoChain): HeightWatcher {
  const heights = new HeightWatcher(validators.map(({ rpcUrl }) => rpcUrl));
  cast.add('height watcher', () => heights.close());
  return heights;
}

async function chainLives(stage: Stage, chain: DemoChain): Promise<void> {
  const { narrator, interrupted } = stage;
  const heights = watchHeights(stage, chain);
  const began = await until('a first block', BLOCKS_MS, interrupted, async () => heights.report ?? null);
  const lives = await until('three more blocks', BLOCKS_MS, interrupted, async () => {
    const now = heights.report;
    return now && now.lastHeight >= began.lastHeight + 3 ? now : null;
  });
  await heights.close();
  narrator.say(`The chain lives: height ${lives.lastHeight}, seen on the validators' own RPC.`);
}
