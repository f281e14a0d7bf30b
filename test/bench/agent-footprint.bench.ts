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
 * `npm run bench -- agent-footprint [SECONDS] [STARTS]`: for so long each is watched, and on so many fresh hosts, one
 * agent each; by default 120 and 7. A goal for memory is held by the worst start.
 */
const WATCHED_S = Number(process.argv[2] ?? 120);
const STARTS = Number(process.argv[3] ?? 7);
/** The start is over: joined, first heartbeats sent, hashes known. */
const SETTLED_S = 20;
const SAMPLE_S = 5;
/** Clock ticks a second in /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS = 100;

const lab = await createLab();
const firstHost = await lab.up('bench1', { ownUsr: true }); // the lab's network comes with its first host
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
  const hosts = [firstHost];
  for (let nth = 1; nth <= STARTS; nth++) {
    const host = hosts[nth - 1] ?? (await lab.up(`bench${nth}`, { ownUsr: true }));
    hosts[nth - 1] = host;
    await installTinyNode(host, node);
    await installPackage(host, plane, artifacts);
  }
  console.log(`watching ${STARTS} idle agents for ${WATCHED_S} s`);
  await sleep(SETTLED_S * 1000);
  const starts = await Promise.all(hosts.map(startOf));
  for (const start of starts) console.log(startText(start));
  const debBytes = (await builtFile('debian-package')).length;
  const seen = { watched_s: WATCHED_S, components: 2, starts: STARTS };
  const of = (key: keyof Start) => starts.map((start) => start[key]);
  printFigures([
    {
      name: 'agent_rss',
      value: Math.max(...of('rssMb')),
      unit: 'MB',
      goal: 80,
      better: 'lower',
      worst_of: 'starts',
      ...seen,
    },
    { name: 'agent_rss_median', value: median(of('rssMb')), unit: 'MB', better: 'lower', ...seen },
    { name: 'agent_idle_cpu', value: median(of('cpuPct')), unit: '% of a core', goal: 0.5, better: 'lower', ...seen },
    { name: 'agent_idle_cpu_worst', value: Math.max(...of('cpuPct')), unit: '% of a core', better: 'lower', ...seen },
    {
      name: 'agent_idle_cpu_of_its_children',
      value: median(of('childrenPct')),
      unit: '% of a core',
      better: 'lower',
      ...seen,
    },
    {
      name: 'agent_first_report',
      value: median(of('firstReportMs')),
      unit: 'ms',
      goal: 1000,
      better: 'lower',
      ...seen,
    },
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

interface Start {
  readonly rssMb: number;
  readonly cpuPct: number;
  readonly childrenPct: number;
  /** From the start of its process until its gateway has its first report and has welcomed it. */
  readonly firstReportMs: number;
}

interface Sample {
  readonly rssMb: number;
  readonly ownTicks: number;
  /** Of the programs that it ran to their end: `systemctl show`. */
  readonly childTicks: number;
}

async function startOf(host: Host): Promise<Start> {
  return { ...(await watch(host)), firstReportMs: await firstReportMs(host) };
}

function startText({ rssMb, cpuPct, childrenPct, firstReportMs }: Start): string {
  const cpu = `${cpuPct.toFixed(2)} % of a core, ${childrenPct.toFixed(2)} of it its children's`;
  return `  ${rssMb.toFixed(1)} MB, ${cpu}, first report after ${firstReportMs.toFixed(0)} ms`;
}

async function mainPid(host: Host): Promise<string> {
  return (await host.must('systemctl', 'show', AGENT, '-p', 'MainPID', '--value')).trim();
}

/** Medians of what /proc says of the agent's process; the processor's time over the whole while, its children's included. */
async function watch(host: Host): Promise<Omit<Start, 'firstReportMs'>> {
  const pid = await mainPid(host);
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
    childrenPct: pctOf(children),
  };
}

/** By systemd's clock and the journal's, which are one. */
async function firstReportMs(host: Host): Promise<number> {
  const started = await host.must('systemctl', 'show', AGENT, '-p', 'ExecMainStartTimestampMonotonic', '--value');
  const log = await host.must('journalctl', '-u', AGENT, '-o', 'json', '--no-pager');
  const connected = log.split('\n').find((line) => line.includes('connected to the gateway'));
  if (connected === undefined) throw new Error('the agent has never reached its gateway');
  return (Number(JSON.parse(connected).__MONOTONIC_TIMESTAMP) - Number(started)) / 1000;
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
