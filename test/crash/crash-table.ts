import { type CrashCell, FORWARD_POINTS, UNDO_POINTS } from './crash-cells.ts';
import type { CrashOutcome } from './crash-lane.ts';

/** One cell and what became of it. */
export interface Crash {
  readonly cell: CrashCell;
  readonly outcome: CrashOutcome;
}

const COLUMNS = [
  { title: 'systemd: agent killed', adapter: 'systemd', cut: 'agent_killed' },
  { title: 'systemd: power lost', adapter: 'systemd', cut: 'power_lost' },
  { title: 'process: agent killed', adapter: 'process', cut: 'agent_killed' },
] as const;

const HEAD = `# What a crash leaves

Written by \`test/crash/crash-matrix.host.test.ts\` from what it saw; \`npm run test:host -- test/crash -u\` writes it anew. Real
agent, real systemd hosts, real gateway and Postgres. At each point of an upgrade the agent's process was killed with
SIGKILL from outside, or its host lost its power; then the agent came back by itself and went on.

Each field says what the host has after it (executable on disk and in memory, config, environment of the process: all of
the *old* release or all of the *new* one), what the command's row reports, and how often the service was asked to stop,
counted in the host's journal. For a power cut it also says what the booted host runs before its agent does anything:
\`down\` means that the hold kept the enabled unit from starting (A18a).

A power cut of the lab ends every process of the host at once, without a signal that anything could answer; the kernel's
page cache survives it, since host and machine share one kernel. So a forgotten fsync is not seen here: the unit tests of
\`host/atomic-file.ts\` look for that.
`;

/** The tables of all crashes, Markdown. */
export function crashTable(crashes: readonly Crash[]): string {
  return [
    HEAD,
    '## A release that works\n',
    table(crashes, 'good', FORWARD_POINTS),
    '\n## A release that ends at once: the crash hits the undo\n',
    table(crashes, 'bad', UNDO_POINTS),
    '',
  ].join('\n');
}

function table(crashes: readonly Crash[], release: CrashCell['release'], points: readonly string[]): string {
  const titles = ['point', ...COLUMNS.map(({ title }) => title)];
  const rows = points.map((point) => [
    `\`${point}\``,
    ...COLUMNS.map(({ adapter, cut }) => {
      const found = crashes.find(
        ({ cell }) => cell.release === release && cell.point === point && cell.adapter === adapter && cell.cut === cut,
      );
      return found === undefined ? '-' : describe(found.outcome);
    }),
  ]);
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function describe({ host, atBoot, reported, stops }: CrashOutcome): string {
  const boot = atBoot === null ? '' : `${atBoot} at boot, then `;
  return `${boot}${host}, ${reported}, ${stops} ${stops === 1 ? 'stop' : 'stops'}`;
}
