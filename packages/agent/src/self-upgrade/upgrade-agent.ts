import type { CommandResult } from '@hoodcloud/contracts/wire/agent-v1';
import type { Logger } from 'pino';
import type { AgentConfig } from '../agent-config.ts';
import { AgentError } from '../agent-error.ts';
import { adapterFor, sharedByAdapters } from '../component-adapters.ts';
import { faultPointFromEnvironment } from '../host/fault-point.ts';
import { lockProcess } from '../host/process-lock.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import type { Component } from '../upgrade/component.ts';
import { UpgradeHandler } from '../upgrade/upgrade-handler.ts';
import { abandonOwnAttempts } from './abandon-own-attempts.ts';
import { HandedOrders } from './handed-order.ts';
import { ownComponent } from './own-component.ts';

/**
 * Carries out the command for the agent that lies on this host, from the beginning or from where a crash left it, and
 * leaves its result for whichever agent comes back. Runs in a unit of its own from a copy of the agent that took the
 * command, so that it outlives the one and doesn't depend on the other (field-cases 77, 126). Idempotent.
 */
export async function upgradeAgent(config: AgentConfig, log: Logger): Promise<void> {
  const own = ownComponent(config);
  if (own === undefined) {
    throw new AgentError('unknown_component', 'the agent is no component of its own file any more: put it back there');
  }
  const lock = await lockProcess(`self-upgrade ${config.state_dir}`);
  if (lock === null) throw new AgentError('already_running', 'the agent of this host is being upgraded already');
  try {
    const store = await AttemptStore.open(config.state_dir, (path, error) =>
      log.error({ err: error, path }, 'the record of an attempt could not be read; it was set aside'),
    );
    const runtime = adapterFor(config, own, sharedByAdapters());
    const component = { binaryName: own.binary_name, dataDir: own.data_dir, runtime };
    await carryOut(new HandedOrders(config.state_dir), store, component, log);
  } finally {
    lock.close();
  }
}

async function carryOut(orders: HandedOrders, store: AttemptStore, component: Component, log: Logger): Promise<void> {
  const order = await orders.order();
  if ((await orders.result()) !== null) return;
  if (order !== null && order.installId !== (await orders.installId())) {
    log.warn({ attempt: order.command.upgrade?.attemptId }, 'the order is of an earlier installation: it is dropped');
    await abandonOwnAttempts(store, component.binaryName);
    return orders.clear();
  }
  const results = new Map<string, CommandResult>();
  const environment = { store, log, faultPoint: faultPointFromEnvironment(process.env), now: Date.now };
  const handler = new UpgradeHandler(environment, [component], {
    onProgress: () => undefined, // the agent reads it from the record
    onResult: (result) => results.set(result.commandId, result),
  });
  await handler.resume(); // what a crash interrupted; of a lost order too
  await handler.idle();
  if (order === null) return;
  const { command, deadlineAtMs } = order;
  if (!results.has(command.commandId)) {
    await handler.handle({ ...command, expiresInMs: Math.max(0, deadlineAtMs - Date.now()) });
  }
  const result = results.get(command.commandId);
  if (result === undefined)
    throw new AgentError('not_settled', 'the upgrade of the agent is not settled: trying again');
  log.info({ outcome: result.outcome, error: result.errorMessage }, 'the upgrade of the agent has ended');
  await orders.answer(result);
}
