import { pino } from 'pino';
import type { AgentConfig } from '../agent-config.ts';
import { AgentError } from '../agent-error.ts';
import { isAgentRunning, lockAgent } from '../agent-lock.ts';
import { adapterFor, sharedByAdapters } from '../component-adapters.ts';
import { faultPointFromEnvironment } from '../host/fault-point.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import { UpgradeHandler } from '../upgrade/upgrade-handler.ts';
import { Hand } from './hand.ts';
import { HandClient } from './hand-client.ts';

/** Who carries out an order on the host. */
export interface OpenHand extends Pick<Hand, 'preview' | 'rollBack'> {
  readonly by: 'agent' | 'command';
}

/**
 * The agent's hand when it runs; else one of our own, which takes the agent's lock for as long as it works, so that an
 * agent that is started meanwhile doesn't work on the same attempt.
 */
export async function openHand(config: AgentConfig): Promise<OpenHand> {
  if (await isAgentRunning(config.state_dir)) {
    const client = new HandClient(config.state_dir);
    return {
      by: 'agent',
      preview: (...asked) => client.preview(...asked),
      rollBack: (...agreed) => client.rollBack(...agreed),
    };
  }
  const { hand, prepare } = await ownHand(config);
  return {
    by: 'command',
    preview: (...asked) => hand.preview(...asked),
    rollBack: async (...agreed) => {
      const lock = await lockAgent(config.state_dir);
      if (lock === null) {
        throw new AgentError(
          'changed_meanwhile',
          'the agent was started meanwhile: roll back again, and it does the work',
        );
      }
      try {
        await prepare();
        return await hand.rollBack(...agreed);
      } finally {
        lock.close();
      }
    },
  };
}

async function ownHand(config: AgentConfig): Promise<{ hand: Hand; prepare: () => Promise<void> }> {
  const shared = sharedByAdapters();
  const components = config.components.map((component) => ({
    binaryName: component.binary_name,
    dataDir: component.data_dir,
    runtime: adapterFor(config, component, shared),
  }));
  const log = pino({ level: process.env.HOODCLOUD_LOG_LEVEL ?? 'warn' }, pino.destination(2));
  const store = await AttemptStore.open(config.state_dir, (path, error) =>
    log.error({ err: error, path }, 'the record of an attempt could not be read; it was set aside'),
  );
  const environment = { store, log, faultPoint: faultPointFromEnvironment(process.env), now: Date.now };
  const handler: UpgradeHandler = new UpgradeHandler(environment, components, {
    onProgress: (_, attemptId, progress) => hand.onProgress(attemptId, progress),
    onResult: () => undefined, // kept in the record: the agent tells it when it runs again
  });
  const hand: Hand = new Hand({ store, handler, now: Date.now });
  const prepare = async () => {
    for (const { runtime } of components) await runtime.prepare();
  };
  return { hand, prepare };
}
