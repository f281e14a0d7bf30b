// What the last whole run of the crash tier saw: a summary for docs/guarantees.md, and every cell for docs/crash-matrix.md.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';

const FAULT_TITLES = {
  agent_killed: 'agent killed (SIGKILL)',
  power_lost: 'host loses power',
  disk_full: 'disk full',
  read_only: 'file system read-only',
  network_cut: 'network cut',
  control_plane_gone: 'control plane gone',
};

/** @returns {{ of: number, seconds: number, machine: string, watched: { looks: number, doubles: string[] }, cells: { adapter: string, fault: string, release: string, point: string, seen: string }[] }} */
export function readMatrix() {
  const none = { of: 0, seconds: 0, machine: 'none', watched: { looks: 0, doubles: [] }, cells: {} };
  const { of, seconds, machine, watched, cells } = read('matrix') ?? none;
  const split = Object.entries(cells).map(([name, seen]) => {
    const [adapter, fault, release, point] = name.split(' ');
    return { adapter, fault, release, point, seen };
  });
  return { of, seconds, machine, watched, cells: split };
}

/** The section of docs/guarantees.md. */
export function crashSummary() {
  const { of, seconds, machine, watched, cells } = readMatrix();
  const adapters = [...new Set(cells.map(({ adapter }) => adapter))];
  const rows = Object.entries(FAULT_TITLES).map(([fault, title]) => {
    const counts = adapters.map((adapter) => {
      const own = cells.filter((cell) => cell.adapter === adapter && cell.fault === fault);
      return `${own.filter(isWhole).length} of ${own.length}`;
    });
    return [title, ...counts];
  });
  const passed = cells.filter(isWhole).length;
  return `## Torn apart

At each point (before, in the middle of and after each of the eight actions and each of their undos) of an upgrade that
works, of one that ends at once and of one that is recalled, a fault befalls the agent or its host. Afterwards the whole
host (files with content, mode, owner and links, extended attributes of what is replaced, units, containers, processes) is all of the old release or all of the
new one, nothing is left over, and what was told is what the host shows. A watcher in each host, a process of its own,
looks every 10 ms, or as often as a busy machine lets it, for two living instances: of ${watched.looks} looks ${watched.doubles.length} saw
them. Cells that passed, of those that were run:

${table(['fault', ...adapters], rows)}

${cells.length} of ${of} cells were run, ${passed} passed; one after another they took ${minutes(seconds)}, on three
hosts side by side (\`npm run test:crash\`; ${machine}). Each cell: [crash-matrix.md](crash-matrix.md).

${systemCalls()}`;
}

function systemCalls() {
  const reports = read('system-calls') ?? [];
  const sum = (own, numberOf) => own.reduce((total, report) => total + numberOf(report), 0);
  const done = (own) => `${sum(own, ({ runs, broken }) => runs - broken.length)} of ${sum(own, ({ runs }) => runs)}`;
  const time = (own) => minutes(sum(own, ({ seconds }) => seconds));
  const names = [...new Set(reports.map(({ adapter, direction }) => `${adapter}, ${direction}`))];
  const rows = names.map((name) => {
    // shares of the harms that were done by themselves
    const own = reports.filter(({ adapter, direction }) => `${adapter}, ${direction}` === name);
    const [{ calls, harms }] = own;
    return { name, calls, harms, own };
  });
  const harms = sum(rows, (row) => row.harms);
  return `### At every system call

The agent is killed at a system call that changes a file, or the call fails with ENOSPC, EIO or EROFS, whichever its
manual page allows: a sample in \`npm test\`, each with each by \`npm run test:crash -- --all\`. Every rename of the traced
runs comes after the fsync of its file, and before anything else the fsync of its folder.

${table(
  ['run', 'mutating calls', 'calls × harms', 'passed, of those done', 'time'],
  rows.map((row) => [row.name, String(row.calls), String(row.harms), done(row.own), time(row.own)]),
)}

${sum(reports, ({ runs }) => runs)} of ${harms} were done, spread over the whole runs; one after another they took ${time(reports)}, on three hosts side by side.
`;
}

/** docs/crash-matrix.md whole. */
export function crashPage() {
  const { cells } = readMatrix();
  const titles = {
    good: 'A release that works',
    bad: 'A release that ends at once: the fault hits the undo',
    recalled: 'A release that is recalled after a failed validation: the fault hits the ordered undo',
  };
  const adapters = [...new Set(cells.map(({ adapter }) => adapter))];
  const sections = Object.entries(titles).flatMap(([release, title]) =>
    adapters.map((adapter) => {
      const own = cells.filter((cell) => cell.release === release && cell.adapter === adapter);
      const points = [...new Set(own.map(({ point }) => point))];
      const rows = points.map((point) => [
        `\`${point}\``,
        ...Object.keys(FAULT_TITLES).map(
          (fault) => own.find((cell) => cell.point === point && cell.fault === fault)?.seen ?? '-',
        ),
      ]);
      return `## ${title}: ${adapter}\n\n${table(['point', ...Object.values(FAULT_TITLES)], rows)}\n`;
    }),
  );
  return `# What a crash leaves

<!-- Generated by \`npm run generate -- crash-matrix\` from test/crash/results, which \`npm run test:crash\` writes. -->

Real agent, real hosts with systemd and Docker, real gateway and Postgres. At each point the agent stops itself and the
fault happens: its process is killed from outside, its host loses power, its disk is full or read-only until the agent
says how it ended, its network is cut for a while, or its control plane is gone until the agent has ended its work alone.

Each field says what the whole host is of afterwards, what the command's row reports, and how often the service was asked
to stop. After a power cut it says first what the booted host runs before its agent does anything: \`down\` means that
the hold kept the enabled service from starting (A18a). An undo that the disk refuses is told as \`failed_rollback\`,
with the node held down or running what it ran; it is then undone by hand, as its operator would (ADR 0013).

A power cut of the lab ends every process of the host at once; the kernel's page cache survives it, since host and machine
share one kernel. So a forgotten fsync is not seen here: \`test/crash/sweep\` looks for that in the log of system calls.

${sections.join('\n')}`;
}

const isWhole = ({ seen }) => !seen.startsWith('broken');
const minutes = (seconds) => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
const table = (titles, rows) =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function read(name) {
  const file = join(ROOT, `test/crash/results/${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}
