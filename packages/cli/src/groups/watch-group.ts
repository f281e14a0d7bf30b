import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutGroupStatusView } from '@hoodcloud/contracts/http/rollout-groups';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import type { CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderComponents } from './group-text.ts';

const LOOK_EVERY_MS = 500;

/** The end of a group, or its wait for a person; null while it goes on by itself. */
export function groupExitCode({ status, waiting, components }: RolloutGroupStatusView): ExitCode | null {
  switch (status) {
    case 'completed':
    case 'rolled_back':
      return EXIT.done;
    case 'partial':
    case 'failed':
    case 'canceled':
      return EXIT.failed;
    case 'pending':
      return EXIT.needsPerson;
    case 'paused':
      // What a person ordered since has not been answered yet, or is under way.
      return waiting?.kind === 'pause' ? EXIT.needsPerson : null;
    case 'running': {
      const asks = components.some(({ status_reason }) => status_reason?.code === 'waiting_for_approval');
      return asks ? EXIT.needsPerson : null;
    }
  }
}

/** What a look shows that the one before didn't: the group's sentences and its components' progress. */
function linesOf(group: RolloutGroupStatusView): string[] {
  const why = group.status_reason ? ` ${group.status_reason.sentence}` : '';
  const waiting = group.status === 'running' ? (group.waiting?.reasons ?? []).map(({ sentence }) => sentence) : [];
  const components = group.components.flatMap((component) =>
    component.status === null
      ? []
      : [
          `${component.binary_name} ${component.target_version}: ${component.status}` +
            `${component.direction === 'rollback' ? ' (rollback)' : ''}, ${component.succeeded_nodes} of ` +
            `${component.total_nodes} succeeded, ${component.failed_nodes} failed` +
            `${component.status_reason ? `: ${component.status_reason.sentence}` : ''}`,
        ],
  );
  return [`${group.status}.${why}`, ...components, ...waiting.map((sentence) => `· ${sentence}`)];
}

/**
 * Shows a group until it ends, waits for a person, or `timeoutMs` passes: a line for everything that is new. Ctrl-C ends
 * the watching only.
 */
export async function watchGroup(io: CommandIo, id: string, timeoutMs?: number): Promise<ExitCode> {
  const api = await io.api();
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  let before: readonly string[] = [];
  for (;;) {
    const group = await api.get<RolloutGroupStatusView>(PATHS.groupStatus(id));
    const lines = linesOf(group);
    for (const line of lines) if (!before.includes(line)) io.context.out.write(`${line}\n`);
    before = lines;
    const code = groupExitCode(group);
    if (code !== null) {
      io.context.out.write(renderComponents(group.components));
      return code;
    }
    if (Date.now() >= deadline) {
      io.remark(`It goes on after ${renderDuration(timeoutMs ?? 0)}; the server's work was not touched.`);
      return EXIT.timedOut;
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: io.context.interrupted });
  }
}
