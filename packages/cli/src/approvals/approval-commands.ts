import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ApprovalView } from '@hoodcloud/contracts/http/approvals';
import { renderAge } from '@hoodcloud/domain/duration-text';
import type { Command } from 'commander';
import type { Act, CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';

/** `hoodctl approval …` */
export function addApprovalCommands(program: Command, act: Act): void {
  const approval = program.command('approval').description('what stands still until a person acts');
  approval.command('list').description('list what waits for a person, and since when').action(act(list));
}

async function list(io: CommandIo): Promise<void> {
  const { items } = await (await io.api()).get<{ items: ApprovalView[] }>(PATHS.approvals);
  io.answer(items, (waiting) => renderApprovals(waiting, io.context.now()));
  if (items.length === 0) io.remark('Nothing waits for a person.');
}

function renderApprovals(waiting: readonly ApprovalView[], now: Date): string {
  const rows = waiting.map((one) => [
    one.chain_profile_id,
    one.brings,
    renderAge(one.since, now),
    one.reasons.map(({ sentence }) => sentence).join(' '),
    one.created_by,
    one.refusal ?? nextOf(one),
  ]);
  return renderTable(['chain', 'brings', 'waits since', 'why', 'created by', 'next'], rows);
}

/** The command that goes on; a pause has more than one way out. */
function nextOf({ subject_type, subject_id, needs }: ApprovalView): string {
  const noun = subject_type === 'rollout' ? 'rollout' : 'group';
  return `hoodctl ${noun} ${needs === 'decide' ? 'resume' : needs} ${subject_id}`;
}
