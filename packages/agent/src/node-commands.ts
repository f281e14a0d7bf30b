import type { AgentConfig, ComponentConfig } from './agent-config.ts';
import { loadCredential } from './agent-credential.ts';
import { AgentError } from './agent-error.ts';
import { adapterFor, sharedByAdapters } from './component-adapters.ts';
import { ProcessAdapter } from './runtime/process/process-adapter.ts';
import type { RuntimeAdapter } from './runtime/runtime-adapter.ts';
import { openOperations } from './upgrade/attempt-record.ts';
import { AttemptStore } from './upgrade/attempt-store.ts';
import { DEFAULT_BUDGETS } from './upgrade/upgrade-request.ts';

/** Prints what the host shows now, component by component, and the attempts that are not settled. */
export async function printStatus(config: AgentConfig, say: (line: string) => void): Promise<void> {
  const credential = await loadCredential(config.state_dir);
  say(credential === null ? 'not joined' : `joined as ${credential.nodeName} (${credential.nodeId})`);
  const shared = sharedByAdapters();
  for (const component of config.components) {
    const status = await adapterFor(config, component, shared).status();
    say(`${component.binary_name}: ${status.state}${status.held ? ', held down by an upgrade' : ''}`);
    say(`  pid ${status.mainPid ?? '-'}, ${status.restarts} restarts since its start`);
    say(`  running   ${status.runningChecksum ?? '-'}`);
    say(`  installed ${status.installedChecksum ?? '-'}`);
  }
  if (credential === null) return;
  const store = await AttemptStore.open(config.state_dir, (path) => say(`unreadable record kept as ${path}`));
  for (const record of await store.list()) {
    for (const [operation] of openOperations(record)) {
      const last = record.progress.steps.at(-1);
      say(`open: ${operation} of attempt ${record.attemptId}, ${last?.name ?? 'not begun'} ${last?.state ?? ''}`);
    }
  }
}

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
  if ((await adapter.status()).held) {
    throw new AgentError('upgrade_open', `an upgrade of ${binaryName} is under way: see \`hoodcloud-agent status\``);
  }
  return adapter;
}
