import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '../../host/process-table.ts';
import type { ContainerInspect, RestartPolicy } from './container-inspect.ts';
import type { ContainerView, Engine } from './engine.ts';
import { hasStatus } from './engine-error.ts';

export const NO_RESTART: RestartPolicy = { Name: 'no', MaximumRetryCount: 0 };

const POLL_MS = 50;
/** How long the engine may take to see that a container has ended. */
const ENDING_MS = 30_000;

/** What the engine does by itself when the container ends. */
export function policyOf({ HostConfig }: ContainerInspect): RestartPolicy {
  return HostConfig.RestartPolicy ?? NO_RESTART;
}

/** The engine leaves a container alone that has it. */
export function isNo({ Name }: RestartPolicy): boolean {
  return Name === 'no' || Name === '';
}

/**
 * Gives a container a restart policy, unless it has it. The engine refuses that while a container ends, as one in a crash
 * loop does again and again, and takes it a moment later. It has as many sentences for it as there are layers below it
 * (`cannot update a stopped container`, `container not running`, `cannot update a deleted process`, `unable to set unit
 * properties`), so the container's process is asked instead.
 * @throws EngineError when the engine refuses it of a container that lives on
 */
export async function setRestartPolicy(engine: Engine, view: ContainerView, policy: RestartPolicy): Promise<void> {
  const now = policyOf(view);
  if (now.Name === policy.Name && (now.MaximumRetryCount ?? 0) === (policy.MaximumRetryCount ?? 0)) return;
  let seen = view;
  for (const end = Date.now() + ENDING_MS; ; await sleep(POLL_MS)) {
    try {
      await engine.call(`set the restart policy of ${view.Name.slice(1)}`, null, (docker) =>
        docker.getContainer(view.Id).update({ RestartPolicy: policy }),
      );
      return;
    } catch (error) {
      if (Date.now() > end || !hasStatus(error, 500)) throw error;
      const looked = await engine.container(view.Id);
      if (looked === null || (await isSameLivingRun(seen, looked))) throw error;
      seen = looked;
    }
  }
}

/** The container has run all the while, and does. */
async function isSameLivingRun(before: ContainerView, { State }: ContainerView): Promise<boolean> {
  if (!State.Running || State.StartedAt !== before.State.StartedAt) return false;
  const main = await readProcess(State.Pid);
  return main !== null && !main.zombie;
}
