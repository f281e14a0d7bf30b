import type { Server } from 'node:net';
import { isProcessLocked, lockProcess } from './host/process-lock.ts';

/** Whoever holds it is the agent of this state_dir; null when another process does. Given back by `close()`. */
export function lockAgent(stateDir: string): Promise<Server | null> {
  return lockProcess(nameOf(stateDir));
}

/** Whether an agent, or a command that stands in for it, holds the lock now. Takes nothing. */
export function isAgentRunning(stateDir: string): Promise<boolean> {
  return isProcessLocked(nameOf(stateDir));
}

function nameOf(stateDir: string): string {
  return `agent ${stateDir}`;
}
