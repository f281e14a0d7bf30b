import { AgentError } from '../../agent-error.ts';
import type { ActionParams, UpgradeAction } from '../action.ts';
import { startOptions } from '../start-options.ts';
import { requireWantedChecksum } from './wanted-checksum.ts';

/** Starts the node on the new artifact, when it was running before. */
export const startNode: UpgradeAction = {
  name: 'start_node',
  timeoutMs: ({ budgets }) => budgets.startMs,
  isAlreadyDone: async (params) => {
    const status = await params.runtime.status();
    if (!params.before.wantedRunning) return !status.held; // left stopped, free to be started by its operator (A3)
    // in doubt nobody has watched it for long enough: a start of what runs only watches
    return !params.inDoubt && status.state === 'running' && runsWanted(params, status.runningChecksum);
  },
  execute: async (params) => {
    const { runtime, before, signal, budgets } = params;
    if (!before.wantedRunning) return runtime.release();
    for (;;) {
      await runtime.start(startOptions(budgets, signal));
      const { runningChecksum } = await runtime.status();
      if (runsWanted(params, runningChecksum)) return;
      if (runningChecksum !== null) throw wrongArtifact(params, runningChecksum);
      // it ended between the two looks; where that is tolerated it is watched anew, until the time budget ends the start
      if (budgets.toleratedRestarts === 0) throw endedAfterAll(params);
    }
  },
  compensate: async ({ runtime, budgets, onProgress }) => {
    await runtime.hold(); // files are about to change again
    try {
      await runtime.stop(AbortSignal.timeout(budgets.stopMs));
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'stop_overrun') throw error;
      onProgress(
        0,
        `${runtime.serviceName()} takes longer to stop than its budget; waiting until it has ended by itself`,
      );
      await runtime.waitUntilGone(new AbortController().signal); // never a kill, never a failed rollback (A7)
    }
  },
  undoTimeoutMs: () => null,
};

function wrongArtifact(params: ActionParams, runningChecksum: string): AgentError {
  return new AgentError(
    'wrong_artifact_running',
    `${params.runtime.serviceName()} runs ${runningChecksum} instead of ${requireWantedChecksum(params)}: its start command names another file than install_path of the agent's configuration`,
  );
}

function endedAfterAll({ runtime, budgets }: ActionParams): AgentError {
  return new AgentError(
    'start_failed',
    `${runtime.serviceName()} did not stay up: it ended right after it had been up for ${budgets.stableMs / 1000} s`,
  );
}

/** Judged by what runs, not by what was started (A6): `Restart=always` may have brought the old one back. */
function runsWanted(params: ActionParams, runningChecksum: string | null): boolean {
  return runningChecksum === requireWantedChecksum(params);
}
