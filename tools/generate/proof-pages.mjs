// What runs by hand have shown of the control plane, for docs/guarantees.md: faults, walk, simulation, model, planted bugs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';

/** The section of docs/guarantees.md. */
export function proofSummary() {
  return ['## The control plane, held to its rules', ...[model(), walks(), planted(), faults()].filter(Boolean)].join(
    '\n\n',
  );
}

function model() {
  const run = read('model');
  if (!run) return null;
  return `### Any interleaving

\`test/model\` draws commands by a seed (controls at the API, signals by hand, outcomes of nodes, restarts of worker and relay, a
lost workflow, agents that reconnect, hours that pass; one by one, at once, or while no worker runs) and lets them happen to the
domain's model and to the real API, gateway, worker, Postgres and Temporal. After each, both agree, API, rows and workflow too, and
the rules below hold; afterwards the rollout is brought to its end. ${run.runs} rollouts, ${run.commands} things that happened, seed ${run.seed},
${minutes(run.seconds)}, 0 violations (${where(run)}).

${reached(run)}`;
}

function walks() {
  const [walk, fleets] = [read('walk'), read('fleets')];
  if (!walk || !fleets) return null;
  const sum = (key) => walk.worlds.reduce((total, world) => total + world[key], 0);
  const rows = walk.worlds.map(({ name, nodes, states, moves, ended, depth }) => [
    name,
    nodes,
    states,
    moves,
    ended,
    depth,
  ]);
  return `### Every state of small worlds

\`npm run sim -- --walk\`: every command, outcome and fault at every step: ${sum('states')} states, each safe, each able to end,
${sum('moves')} moves, ${walk.seconds} s, 0 violations (${where(walk)}).

${table(['world', 'nodes', 'states', 'moves', 'ended', 'depth'], rows)}

${reached(walk)}

### Fleets

\`npm run sim -- --seed ${fleets.seed}\`: ${fleets.rollouts} rollouts over ${fleets.nodes} nodes, ${fleets.steps} steps, ${fleets.seconds} s, 0 violations (${where(fleets)}).

${reached(fleets)}`;
}

function planted() {
  const found = read('planted');
  if (!found) return null;
  const of = (bug) => found.filter((one) => one.bug === bug);
  const rows = [...new Set(found.map(({ bug }) => bug))].map((bug) => {
    const times = ['walk', 'simulation', 'model'].map((name) => of(bug).find(({ finder }) => finder === name));
    return [of(bug)[0].guarantee, ...times.map((time) => (time?.said ? `${time.seconds} s` : '-')), `\`${bug}\``];
  });
  return `### Bugs that were planted

\`npm run planted\` breaks a promise in a copy of the work tree and takes how long each of the three needs to find that, its start included.

${table(['promise that was broken', 'walk', 'simulation', 'model', 'mutant'], rows)}`;
}

function faults() {
  const run = read('faults');
  if (!run) return null;
  const { struck, outage, events } = run;
  const roles = Object.entries(struck.roles).map(([role, times]) => `the ${role} ${times} times`);
  const rows = events.receipts.map(({ receiver, events: had, again }) => [receiver, events.written, had, again]);
  return `### Ten rollouts under faults

\`npm run test:faults\`: ${run.rollouts} rollouts at once on ${run.rollouts} chains with ${run.nodes} nodes, whose agents speak the real protocol. Meanwhile Postgres was killed
${struck.postgres} times, Temporal ${struck.temporal} times, ${roles.join(', ')}, and NATS was away for ${outage.seconds} s in which
${outage.events} events were written. All completed in ${minutes(run.seconds)}: ${run.commands} UPGRADE commands and ${run.upgrades} upgrades for ${run.nodes} nodes, none twice. Each receiver is a
process of its own; the events of each rollout came in their order (${where(run)}).

${table(['receiver', 'events in the outbox', 'had', 'of these again, under the same id'], rows)}`;
}

/** How often each rule's precondition, each edge and each answer was reached, the rarest first. */
function reached({ reached: counters, never = [] }) {
  const counts = Object.entries(counters).map(([name, count]) => `${name} ${count}`);
  const unreached = never.map((name) => ` Never: ${name}${WHY_NEVER[name] ? ` (${WHY_NEVER[name]})` : ''}.`);
  return `Reached how often: ${counts.join('; ')}.${unreached.join('')}`;
}

/** Edges of the tables that one of the proofs has no world for. */
const WHY_NEVER = {
  'rollout: failed -> running':
    'C10a: only a component of a group fails with upgraded nodes, which are then taken back; the walk has one, here no rollout is part of a group',
};

const where = ({ date, machine }) => `${date}, ${machine}`;
const minutes = (seconds) => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
const table = (titles, rows) =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function read(name) {
  const file = join(ROOT, `test/proofs/results/${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}
