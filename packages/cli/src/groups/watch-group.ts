import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutGroupStatusView } from '@hoodcloud/contracts/http/rollout-groups';
import { asksForApproval } from '@hoodcloud/domain/approval-reasons';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import type { CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderComponents, renderGroupStatus } from './group-text.ts';

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
      const asks = components.some(
        ({ status_reason }) => status_reason !== null && asksForApproval(status_reason.code),
      );
      return asks ? EXIT.needsPerson : null;
    }
  }
}

/** What a look shows that the one before didn't: the group's sentences and its components' progress. */
function linesOf(group: RolloutGroupStatusView): string[] {
  const why = group.status_reason ? ` ${group.status_reason.sentence}` : '';
  const waiting = group.why.flatMap(({ sentence }) => (sentence === group.status_reason?.sentence ? [] : [sentence]));
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

/** What shows a watched group. */
interface GroupView {
  look(group: RolloutGroupStatusView): void;
  close(): void;
}

/** A line for everything that is new; for programs one object for each look that shows something new. */
function linesView(io: CommandIo): GroupView {
  let before: readonly string[] = [];
  let told = '';
  return {
    look: (group) => {
      const lines = linesOf(group);
      if (io.format === 'table')
        for (const line of lines) if (!before.includes(line)) io.context.out.write(`${line}\n`);
      before = lines;
      const text = JSON.stringify(group);
      if (text !== told) io.tell({ type: 'group', group });
      told = text;
    },
    close: () => undefined,
  };
}

async function openView(io: CommandIo, leave: () => void): Promise<GroupView> {
  const { terminal } = io;
  if (terminal === null) return linesView(io);
  const { groupScreen } = await import('./group-screen.tsx');
  return groupScreen(io, terminal, leave);
}

/**
 * Shows a group until it ends, waits for a person, or `timeoutMs` passes: on a terminal as a full screen, else as lines, for
 * programs as objects. Leaving ends the watching only.
 */
export async function watchGroup(io: CommandIo, id: string, timeoutMs?: number): Promise<ExitCode> {
  const api = await io.api();
  const leaving = new AbortController();
  const left = AbortSignal.any([leaving.signal, io.context.interrupted]);
  const view = await openView(io, () => leaving.abort());
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  try {
    for (;;) {
      const group = await api.get<RolloutGroupStatusView>(PATHS.groupStatus(id));
      view.look(group);
      const code = groupExitCode(group);
      if (code !== null) return end(io, view, group, code);
      if (Date.now() >= deadline) {
        view.close();
        io.remark(`It goes on after ${renderDuration(timeoutMs ?? 0)}; the server's work was not touched.`);
        return EXIT.timedOut;
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: left });
    }
  } catch (error) {
    if (!left.aborted) throw error;
    view.close();
    io.remark(`The watching ended; the group goes on on the server. Next: hoodctl group status ${id} --watch`);
    return EXIT.left;
  } finally {
    view.close(); // whatever ended it, the terminal is given back
  }
}

function end(io: CommandIo, view: GroupView, group: RolloutGroupStatusView, code: ExitCode): ExitCode {
  view.close();
  if (io.format !== 'table') io.tell({ type: 'end', exit_code: code });
  else if (io.terminal !== null) io.context.out.write(renderGroupStatus(group));
  else io.context.out.write(renderComponents(group.components));
  return code;
}
