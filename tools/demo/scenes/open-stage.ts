import { goAvailable } from '@hoodcloud/testkit/chains/go-binaries';
import type { DemoArguments } from '../demo-arguments.ts';
import { Cast } from '../stage/cast.ts';
import { chooseKeptPorts, choosePorts, DemoFolder } from '../stage/demo-state.ts';
import { Narrator } from '../stage/narrator.ts';
import type { Stage } from '../stage/stage.ts';
import { DemoLeftOver } from './left-over.ts';

/** Finds or makes the demo's folder and ports, and decides which chain it is. */
export async function openStage(options: DemoArguments, interrupted: AbortSignal): Promise<Stage> {
  const folder = new DemoFolder(process.env.HOODCLOUD_DEMO_FOLDER ?? '.demo');
  if (options.reset) folder.clear();
  const chain = options.standIn || !(await goAvailable()) ? 'stand-in' : 'cometbft';
  const left = folder.read();
  if (left && left.chain !== chain) {
    throw new DemoLeftOver(`An earlier run left a ${left.chain} chain.`);
  }
  const state = left ?? { chain, ports: await chooseKeptPorts() };
  folder.write(state);
  return {
    folder,
    ports: await choosePorts(state.ports),
    chainKind: chain,
    cast: new Cast(folder.at('logs')),
    narrator: new Narrator(),
    interrupted,
  };
}
