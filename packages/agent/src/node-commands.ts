import type { AgentConfig, ComponentConfig } from './agent-config.ts';
import { AgentError } from './agent-error.ts';
import { adapterFor, sharedByAdapters } from './component-adapters.ts';
import { ProcessAdapter } from './runtime/process/process-adapter.ts';
import type { RuntimeAdapter } from './runtime/runtime-adapter.ts';
import { AttemptStore } from './upgrade/attempt-store.ts';
import { DEFAULT_BUDGETS } from './upgrade/upgrade-request.ts';

/** Starts a component on its operator's order. */
export async function nodeStart(config: AgentConfig, binaryName: string): Promise<void> {
  const adapter = await idleComponent(config, binaryName);
  await adapter.prepare();
  await adapter.start({ signal: AbortSignal.timeout(DEFAULT_BUDGETS.startMs), stableMs: 1_000 });
}

/** Stops a component on its operator's order; upgrades leave it stopped (A3). */
export async function nodeStop(config: AgentConfig, binaryName: string, supervisorToo: boolean): Promise<void> {
  const adapter = await idleComponent(config, binaryName);
  const signal = AbortSignal.timeout(DEFAULT_BUDGETS.stopMs);
  await adapter.stop(signal);
  if (supervisorToo && adapter instanceof ProcessAdapter) await adapter.shutDown(signal);
}

/** @throws AgentError `unknown_component` | `upgrade_open` */
async function idleComponent(config: AgentConfig, binaryName: string): Promise<RuntimeAdapter> {
  const component = config.components.find((one: ComponentConfig) => one.binary_name === binaryName);
  if (component === undefined) {
    const known = config.components.map((one) => one.binary_name).join(', ');
    throw new AgentError(
      'unknown_component',
      `there is no component "${binaryName}" in the configuration; known: ${known}`,
    );
  }
  const adapter = adapterFor(config, component, sharedByAdapters());
  const open = await openAttemptOf(config, binaryName);
  if ((await adapter.status()).held && open !== null) {
    throw new AgentError(
      'upgrade_open',
      `attempt ${open} of ${binaryName} is not settled: see \`hoodcloud-agent status\``,
    );
  }
  return adapter;
}

/** A hold belongs to the attempt that is open or could not be undone; one that belongs to nobody is the operator's. */
async function openAttemptOf(config: AgentConfig, binaryName: string): Promise<string | null> {
  const records = await AttemptStore.look(config.state_dir, () => undefined).list();
  const latest = records.find((record) => record.binaryName === binaryName && record.outcome !== 'rolled_back');
  return latest === undefined || latest.outcome === 'completed' ? null : latest.attemptId;
}
