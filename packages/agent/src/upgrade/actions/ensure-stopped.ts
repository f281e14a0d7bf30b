import type { ActionParams } from '../action.ts';

/**
 * Before files are changed after a crash: whoever started the node meanwhile would run it with half-changed files
 * (A4). Without a crash `stop_node` has just seen to it.
 */
export async function ensureStopped({ runtime, inDoubt, signal }: ActionParams): Promise<void> {
  if (!inDoubt) return;
  const { state, held } = await runtime.status();
  if (state === 'stopped' && held) return;
  await runtime.hold();
  await runtime.stop(signal);
}
