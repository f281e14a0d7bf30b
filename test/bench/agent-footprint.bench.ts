import { setTimeout as sleep } from 'node:timers/promises';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { createLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { AGENT, builtFile, installPackage, installTinyNode, writePackagedChain } from '../e2e/packaged-chain.ts';
import { ControlPlane } from '../e2e/stack/control-plane.ts';
import { bundlePrograms } from '../e2e/stack/programs.ts';
import { OwnStores } from '../e2e/stack/stores.ts';
import { releaseOf, tinyRelease } from '../e2e/stack/tiny-release.ts';
import { median, printFigures } from './figures.ts';

/**
 * What the agent costs its host when nothing is to be done: installed from its package, joined to a real gateway, two
 * components under systemd (a node with a metrics page, and the agent itself), heartbeats at the gateway's interval.
 * `npm run bench -- agent-footprint [SECONDS]`: for so long it is watched, by default 120.
 */
const WATCHED_S = Number(process.argv[2] ?? 120);
/** The start is over: joined, first heartbeats sent, hashes known. */
const SETTLED_S = 20;
const SAMPLE_S = 5;
/** Clock ticks a second in /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS = 100;

const lab = await createLab();
const host = await lab.up('bench', { ownUsr: true }); // the lab's network comes with its first host
const artifacts = await ArtifactServer.listen(lab.controlAddress);
const programs = await bundlePrograms();
const stores = await OwnStores.start();
const plane = await ControlPlane.start({
  programs,
  databaseUrl: stores.databaseUrl,
  temporalAddress: stores.temporalAddress,
  bind: lab.controlAddress,
});
try {
  const node = tinyRelease('v1');
  const program = releaseOf('0.1.0', await builtFile('agent-program'));
  writePackagedChain(plane.configDir, [node], program);
  await installTinyNode(host, node);
  await installPackage(host, plane, artifacts);
  console.log(`watching the idle agent for ${WATCHED_S} s`);
  await sleep(SETTLED_S * 1000);
  const { rssMb, cpuPct, systemctlPct } = await watch(host);
  const debBytes = (await builtFile('debian-package')).length;
  const seen = { watched_s: WATCHED_S, components: 2 };
  printFigures([
    { name: 'agent_rss', value: rssMb, unit: 'MB', goal: 80, better: 'lower', median_of: 'samples', ...seen },
    { name: 'agent_idle_cpu', value: cpuPct, unit: '% of a core', goal: 0.5, better: 'lower', ...seen },
    { name: 'agent_idle_cpu_of_its_children', value: systemctlPct, unit: '% of a core', better: 'lower', ...seen },
    { name: 'agent_program_size', value: program.content.length / 2 ** 20, unit: 'MB', better: 'lower' },
    { name: 'agent_deb_size', value: debBytes / 2 ** 20, unit: 'MB', better: 'lower' },
  ]);
} finally {
  await plane.dispose();
  await stores.dispose();
  programs.dispose();
  await artifacts.close();
  await lab.clean();
}

interface Sample {
  readonly rssMb: number;
  readonly ownTicks: number;
  /** Of the programs that it ran to their end: `systemctl show`. */
  readonly childTicks: number;
}

/** Medians of what /proc says of the agent's process; the processor's time over the whole while, its children's included. */
async function watch(host: Host): Promise<{ rssMb: number; cpuPct: number; systemctlPct: number }> {
  const pid = (await host.must('systemctl', 'show', AGENT, '-p', 'MainPID', '--value')).trim();
  const began = performance.now();
  const samples = [await sample(host, pid)];
  while (performance.now() - began < WATCHED_S * 1000) {
    await sleep(SAMPLE_S * 1000);
    samples.push(await sample(host, pid));
  }
  const seconds = (performance.now() - began) / 1000;
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error('nothing was seen of the agent');
  const pctOf = (ticks: number) => (100 * ticks) / TICKS / seconds;
  const children = last.childTicks - first.childTicks;
  return {
    rssMb: median(samples.map(({ rssMb }) => rssMb)),
    cpuPct: pctOf(last.ownTicks - first.ownTicks + children),
    systemctlPct: pctOf(children),
  };
}

/** @throws Error when the process is gone: an agent that was restarted is no idle one */
async function sample(host: Host, pid: string): Promise<Sample> {
  const text = await host.sh(`sed -n 's/^VmRSS:[^0-9]*//p' /proc/${pid}/status; cat /proc/${pid}/stat`);
  const [rss = '', stat = ''] = text.split('\n');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number); // from field 3 on (proc(5))
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  return { rssMb: Number.parseInt(rss, 10) / 1024, ownTicks: user + system, childTicks: childUser + childSystem };
}
