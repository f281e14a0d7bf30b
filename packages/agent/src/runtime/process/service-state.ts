import type { ProcessIdentity } from '../../host/process-table.ts';
import type { RuntimeStatus } from '../runtime-adapter.ts';

/**
 * The state of a supervised service in the words of the adapter's contract.
 * @param main its main process while that lives
 * @param processes every living process of it
 */
export function stateOf(
  wantedRunning: boolean,
  main: ProcessIdentity | null,
  processes: readonly ProcessIdentity[],
): RuntimeStatus['state'] {
  if (main !== null) return wantedRunning ? 'running' : 'stopping';
  if (processes.length > 0) return 'stopping';
  return wantedRunning ? 'waiting_restart' : 'stopped';
}
