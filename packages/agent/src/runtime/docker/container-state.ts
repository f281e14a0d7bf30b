import type { RuntimeStatus } from '../runtime-adapter.ts';
import type { ContainerView } from './engine.ts';

type Ended = Pick<ContainerView['State'], 'ExitCode' | 'OOMKilled' | 'Error'>;

/**
 * The state of a container in the words of the adapter's contract. The engine calls a container that is stopping
 * `running`; only who asked it to stop knows better.
 */
export function containerState({ State }: ContainerView, askedToStop: boolean): RuntimeStatus['state'] {
  if (State.Restarting) return 'waiting_restart';
  if (State.Running || State.Paused) return askedToStop ? 'stopping' : 'running';
  return 'stopped';
}

/** How the last main process ended, as an operator would say it. */
export function describeEnd({ ExitCode, OOMKilled, Error: why }: Ended): string {
  if (why !== '') return `it could not be started: ${why}`;
  if (OOMKilled) return 'it was killed because its memory limit was reached';
  const signal = ExitCode - 128;
  return ExitCode > 128 && signal <= 64 ? `it was ended by signal ${signal}` : `it exited with code ${ExitCode}`;
}
