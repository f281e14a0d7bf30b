import { hostname } from 'node:os';
import type { WorkflowBundle } from '@hoodcloud/controlplane/engine/workflow-bundle';
import type { temporal } from '@temporalio/proto';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;

export type WorkflowHistory = temporal.api.history.v1.IHistory;

/** A history as text that other machines can read. Process ids and this machine's name are nobody's business. */
export function historyToText(workflowId: string, history: WorkflowHistory): string {
  const events = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
  const text = JSON.stringify({ workflowId, history: events });
  return text.replaceAll(new RegExp(`\\d+@${hostname()}`, 'g'), 'worker@lab');
}

/** Reads what historyToText wrote. */
export function historyFromText(text: string): { workflowId: string; history: WorkflowHistory } {
  const { workflowId, history } = JSON.parse(text) as { workflowId: string; history: object };
  return { workflowId, history: History.fromObject(history) };
}

/**
 * Runs a history through workflow code as a worker would that takes over the run.
 * @throws DeterminismViolationError when the code would have done something else
 */
export async function replay(
  workflowBundle: WorkflowBundle,
  { workflowId, history }: { workflowId: string; history: WorkflowHistory },
): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
}
