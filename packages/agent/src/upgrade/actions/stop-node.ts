import { AgentError } from '../../agent-error.ts';
import type { ActionParams, UpgradeAction } from '../action.ts';
import { startOptions } from '../start-options.ts';

/** Stops the node so that its files can be replaced, and keeps it down through a power cut. */
export const stopNode: UpgradeAction = {
  name: 'stop_node',
  timeoutMs: ({ budgets }) => budgets.stopMs,
  // a service that an operator stopped isn't held yet, and could come up half changed at the next boot
  isAlreadyDone: async ({ runtime }) => {
    const { state, held } = await runtime.status();
    return state === 'stopped' && held;
  },
  execute: async ({ runtime, signal }) => {
    await runtime.hold(); // before the stop: from here on nothing but a deliberate start brings it up (A18a)
    await runtime.stop(signal);
  },
  compensate: async ({ runtime, before, budgets, onProgress }) => {
    const { state } = await runtime.status();
    if (state !== 'running' && state !== 'starting') {
      // otherwise the order to stop never reached it
      onProgress(0, 'waiting until the old process has ended by itself');
      await runtime.waitUntilGone(new AbortController().signal); // never cut short, never a kill (A7)
    }
    await runtime.reloadDaemon(AbortSignal.timeout(budgets.reloadMs)); // after the files are back, before the start (A1)
    if (!before.wantedRunning) return runtime.release(); // an operator had stopped it: it stays stopped (A3)
    await runtime.start(startOptions(budgets, AbortSignal.timeout(budgets.startMs)));
    await requireOldArtifact(runtime, before);
  },
  undoTimeoutMs: () => null,
  undoneLast: true,
};

/** The undo is judged by what runs, as the upgrade is (A6). */
async function requireOldArtifact(runtime: ActionParams['runtime'], before: ActionParams['before']): Promise<void> {
  const wanted = before.installedChecksum;
  const { runningChecksum } = await runtime.status();
  if (wanted === null || runningChecksum === wanted) return;
  throw new AgentError(
    'wrong_artifact_running',
    `${runtime.serviceName()} was started again but runs ${runningChecksum ?? 'nothing'} instead of ${wanted}: look at its start command`,
  );
}
