import { once } from 'node:events';
import { versionNames } from './chain/demo-chain.ts';
import type { DemoArguments } from './demo-arguments.ts';
import { makeReport, writeReport } from './report/demo-report.ts';
import { observeNodes } from './report/observe-nodes.ts';
import { badRelease } from './scenes/bad-release.ts';
import { tellAddresses, tellReport } from './scenes/curtain.ts';
import { goodRelease } from './scenes/good-release.ts';
import { releaseToRoll } from './scenes/left-over.ts';
import { openStage } from './scenes/open-stage.ts';
import { setStage } from './scenes/set-stage.ts';
import { timed } from './stage/narrator.ts';
import type { SetStage, Stage } from './stage/stage.ts';

/** The whole story: set up, a good release, a bad one, and what processes, chain and rows showed of it. */
export async function playDemo(options: DemoArguments, interrupted: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stage = await openStage(options, AbortSignal.any([interrupted, over.signal]));
  try {
    await play(stage, options);
  } finally {
    over.abort(); // a build that nobody needs any more ends too
    await stage.cast.stop();
  }
}

async function play(stage: Stage, options: DemoArguments): Promise<void> {
  const setup = await timed(() => setStage(stage));
  const set = setup.result;
  const before = await look(set);
  const release = releaseToRoll(set, before);
  const rollout = await timed(() => goodRelease(set, release));
  const after = await look(set);
  await set.chain.releases.bad; // may still be built beside the rollout; that time belongs to no scene
  const bad = await timed(() => badRelease(set));
  const afterBadRelease = await look(set);
  const report = makeReport({
    versions: await versionNames(set.chain.releases),
    before,
    after,
    afterBadRelease,
    chain: await set.heights.stop(),
    badRollout: bad.result.rollout,
    badNodes: bad.result.nodes,
    seconds: { setup: setup.seconds, rollout: rollout.seconds, bad_release: bad.seconds },
  });
  tellReport(set, report);
  if (options.report !== null) await writeReport(options.report, report);
  if (options.exit || stage.interrupted.aborted) return;
  tellAddresses(set);
  await once(stage.interrupted, 'abort');
}

/** What the nodes' processes show now. */
const look = ({ chain }: SetStage) => observeNodes(chain.validators);
