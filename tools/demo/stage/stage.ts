import type { HeightWatcher } from '@hoodcloud/testkit/chains/height-watcher';
import type { ChainFiles } from '../chain/chain-files.ts';
import type { DemoChain } from '../chain/demo-chain.ts';
import type { ControlPlaneAccess } from '../control-plane/control-plane-access.ts';
import type { Cast } from './cast.ts';
import type { DemoFolder, DemoPorts, DemoState } from './demo-state.ts';
import type { Narrator } from './narrator.ts';
import type { Operator } from './operator.ts';

/** What every scene has at hand from the beginning. */
export interface Stage {
  readonly folder: DemoFolder;
  readonly ports: DemoPorts;
  readonly chainKind: DemoState['chain'];
  readonly cast: Cast;
  readonly narrator: Narrator;
  /** Aborts at Ctrl-C. */
  readonly interrupted: AbortSignal;
}

/** The stage when everything is up. */
export interface SetStage extends Stage {
  readonly chain: DemoChain;
  readonly files: ChainFiles;
  readonly operator: Operator;
  readonly heights: HeightWatcher;
  readonly controlPlane: ControlPlaneAccess;
}
