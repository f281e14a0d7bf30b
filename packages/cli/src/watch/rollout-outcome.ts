import type { RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import { asksForApproval } from '@hoodcloud/domain/approval-reasons';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** That nothing further happens by itself, and what a person does next. */
export interface RolloutOutcome {
  readonly exitCode: ExitCode;
  readonly sentence: string;
  readonly next: string | null;
}

/** The end of a rollout, or its wait for a person; null while it goes on by itself. */
export function outcomeOf(rollout: RolloutView & { readonly in_flight_nodes?: number }): RolloutOutcome | null {
  const why = rollout.status_reason ? ` ${rollout.status_reason.sentence}` : '';
  const order = (command: string) => `hoodctl rollout ${command} ${rollout.id}`;
  switch (rollout.status) {
    case 'completed':
      return { exitCode: EXIT.done, sentence: `Completed.${why}`, next: null };
    case 'rolled_back':
      return { exitCode: EXIT.done, sentence: `Rolled back.${why}`, next: null };
    case 'failed':
      return { exitCode: EXIT.failed, sentence: `Failed.${why}`, next: order('nodes') };
    case 'canceled':
      return { exitCode: EXIT.failed, sentence: `Canceled.${why}`, next: order('nodes') };
    case 'pending':
      return { exitCode: EXIT.needsPerson, sentence: 'Not started.', next: order('start') };
    case 'paused':
      if ((rollout.in_flight_nodes ?? 0) > 0) return null; // those nodes end first
      return {
        exitCode: EXIT.needsPerson,
        sentence: `Paused.${why}`,
        next: `${order('resume')}   (or cancel, rollback)`,
      };
    case 'running': {
      const approval = rollout.waiting?.reasons.find(({ code }) => asksForApproval(code));
      if (!approval) return null;
      return { exitCode: EXIT.needsPerson, sentence: approval.sentence, next: order('approve') };
    }
  }
}
