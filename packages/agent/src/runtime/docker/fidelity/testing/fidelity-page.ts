import { MAY_DIFFER } from '../../clone-differences.ts';
import { CHANGED_BY_HAND } from './compose-project.ts';
import {
  type CoveredOption,
  GROUP,
  NOT_COVERED,
  NOT_STARTED,
  ON_A_NETWORK,
  ON_THE_BRIDGE,
  ON_THE_HOST,
} from './covered-options.ts';

/** What a run showed of one way to get a container onto a new image. */
export interface Outcome {
  /** As `cloneDifferences` tells them. */
  readonly differences: readonly string[];
  /** For each path with a mount: whether data written there before could be read afterwards. */
  readonly data: Readonly<Record<string, 'kept' | 'lost'>>;
}

export interface Outcomes {
  readonly plain: Outcome;
  readonly compose: Outcome;
  readonly composeUp: Outcome;
}

/** docs/reference/container-fidelity.md, from what a run showed. */
export function fidelityPage(outcomes: Outcomes, dataAt: Readonly<Record<string, string>>): string {
  return `# What an upgrade keeps of a container

Written by \`packages/agent/src/runtime/docker/fidelity/fidelity.host.test.ts\` from what a run showed; don't edit it. A container
with the option was put onto a new image: by the agent's clone, once made by \`docker run\` and once by Compose, and, side by side, by
\`docker-compose up -d\` (1.29) with the new image in the file. "Kept" means: the raw inspect says the same, and processes in the
container see the same. "–": the Compose file doesn't have it; its format (2.4) has no word for it, or it excludes another option.

option | shown in | clone, plain | clone, Compose | \`docker-compose up -d\`
--- | --- | --- | --- | ---
${options(ON_A_NETWORK, outcomes)}
${options(ON_THE_BRIDGE, outcomes)}
${options(ON_THE_HOST, outcomes)}
${options(CHANGED_BY_HAND, outcomes)}
${options(Object.values(NOT_STARTED).flat(), outcomes)}

The last ${Object.values(NOT_STARTED).flat().length} were made and compared but not started: the test machine forbids it or has no such hardware.

${besides(outcomes.composeUp)}

## Data

data on | clone, plain | clone, Compose | \`docker-compose up -d\`
--- | --- | --- | ---
${Object.entries(dataAt)
  .map(
    ([path, kind]) =>
      `${kind} | ${Object.values(outcomes)
        .map((outcome) => fate(outcome, path))
        .join(' | ')}`,
  )
  .join('\n')}

A tmpfs is empty after every stop, an upgrade's too. What a container wrote outside its mounts ends with it; more than 1 MB there, temporary
files and logs left out, refuses the upgrade.

## What may differ

${MAY_DIFFER.map(({ paths, why }) => `- ${paths.map((path) => `\`${path}\``).join(', ')}: ${why}`).join('\n')}
- what both images set themselves (environment, command, labels …) changes with the image; what you set stays

## Podman

Through the socket of Debian's Podman (4.3) the clone is the same too, in both of its inspects (\`podman.host.test.ts\`), except what Docker's
API has no word for: the umask (\`--umask\`), the notify mode (\`--sdnotify\`) and the command line that \`podman generate\` repeats.
Podman can't change a container's restart policy; a container that has one is refused before the stop: use \`--restart=no\` and a systemd unit.

## Options that are not in the table

${Object.entries(NOT_COVERED)
  .map(([option, why]) => `- \`${option}\`: ${why}`)
  .join('\n')}
`;
}

function options(covered: readonly CoveredOption[], { plain, compose, composeUp }: Outcomes): string {
  return covered
    .map((option) => {
      const byHand = CHANGED_BY_HAND.includes(option);
      const triedByCompose = byHand || option.compose !== undefined;
      const cells = [
        kept(plain, option),
        ...[compose, composeUp].map((way) => (triedByCompose ? kept(way, option) : '–')),
      ];
      const words = option.arguments.join(' ').replace(`/${GROUP}`, '');
      const shown = byHand ? `\`${option.option} ${words}\` later, by hand` : `\`${words}\``;
      return `${shown} | \`${option.shownIn}\` | ${cells.join(' | ')}`;
    })
    .join('\n');
}

/** What came besides the options. */
function besides({ differences }: Outcome): string {
  const told = differences.filter(isBesides);
  if (told.length === 0) return '`docker-compose up -d` changed nothing besides.';
  return `Besides, \`docker-compose up -d\` changed:\n\n${told.map((line) => `- ${code(line)}`).join('\n')}`;
}

function isBesides(line: string): boolean {
  return line.endsWith(' is new') || line.includes('com.docker.compose.');
}

/** Ids and hashes are other ones in each run. */
function code(line: string): string {
  return `\`${line.replaceAll(/[0-9a-f]{64}/g, '…').replaceAll('|', '\\|')}\``;
}

function kept({ differences }: Outcome, { shownIn }: CoveredOption): string {
  const isOfThis = (line: string) => line.startsWith(`${shownIn}:`) || line.startsWith(`${shownIn}.`);
  const told = differences.filter((line) => isOfThis(line) && !isBesides(line));
  return told.length === 0 ? 'kept' : `**changed**: ${told.map(code).join('; ')}`;
}

function fate({ data }: Outcome, path: string): string {
  return data[path] === 'lost' ? '**lost**' : (data[path] ?? '–');
}
