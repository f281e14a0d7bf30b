import type { PastAttempt } from './history-report.ts';

const OUTCOMES: Readonly<Record<PastAttempt['outcome'], string>> = {
  open: '… open',
  completed: '✓ completed',
  rolled_back: '✗ failed, undone',
  failed_rollback: '✗ failed, NOT undone',
  rolled_back_by_hand: '✓ completed, rolled back by hand since',
};

/** The attempts for people, newest first. */
export function historyText(attempts: readonly PastAttempt[]): string {
  if (attempts.length === 0) return 'No upgrade was tried on this host yet.';
  return attempts.map((attempt) => attemptLines(attempt).join('\n')).join('\n\n');
}

function attemptLines(attempt: PastAttempt): string[] {
  const { attempt_id, began_at, binary_name, from_version, to_version, outcome, confirmed, duration_ms } = attempt;
  const took = `${(duration_ms / 1000).toFixed(1)} s`;
  const lines = [
    `${began_at}  ${binary_name} ${from_version} → ${to_version}  ${OUTCOMES[outcome]}${confirmed ? ', confirmed' : ''}  ${took}`,
    `  attempt  ${attempt_id}`,
  ];
  if (attempt.undoes !== null) lines.push(`  undoes   ${attempt.undoes}`);
  if (attempt.reason !== null) {
    lines.push(`  reason   ${attempt.failed_action === null ? '' : `${attempt.failed_action}: `}${attempt.reason}`);
  }
  lines.push(`  backup   ${attempt.backup ?? 'gone'}`);
  if (attempt.log !== null) lines.push(`  log      ${attempt.log}`);
  return lines;
}
