import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HelloSchema } from '@hoodcloud/contracts/wire/agent-v1';
import type { Logger } from 'pino';
import type { AgentConfig } from './agent-config.ts';
import { type AgentCredential, loadCredential } from './agent-credential.ts';
import { AgentError } from './agent-error.ts';
import { lockAgent } from './agent-lock.ts';
import { AGENT_VERSION } from './agent-version.ts';
import { CommandRouter } from './command-router.ts';
import { adapterFor, sharedByAdapters } from './component-adapters.ts';
import { openChannel, platform } from './gateway-channel.ts';
import { GatewayClient } from './gateway-client.ts';
import { ContactLog } from './gateway-contact.ts';
import { Hand } from './hand/hand.ts';
import { HandServer } from './hand/hand-server.ts';
import { Heartbeat } from './heartbeat.ts';
import { faultPointFromEnvironment } from './host/fault-point.ts';
import { bootId } from './host/process-table.ts';
import { ownComponent } from './self-upgrade/own-component.ts';
import { SelfUpgrade } from './self-upgrade/self-upgrade.ts';
import { markSession } from './self-upgrade/session-mark.ts';
import { ActivationWatch } from './upgrade/activation-watch.ts';
import { AttemptStore } from './upgrade/attempt-store.ts';
import { StagedOrders } from './upgrade/staged-orders.ts';
import { otherPlan, Staging } from './upgrade/staging.ts';
import { type HandlerReports, UpgradeHandler } from './upgrade/upgrade-handler.ts';

/**
 * The agent, from its start until the signal aborts: prepares its components, goes on with what a crash interrupted, and
 * keeps its stream to the gateway. An upgrade that is under way when it ends is finished by its next start.
 * @throws AgentError when it can't run at all: not joined, already running, a component that can't be prepared
 */
export async function runAgent(config: AgentConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const credential = await loadCredential(config.state_dir);
  if (credential === null) {
    throw new AgentError('not_joined', 'this host has not joined: run `hoodcloud-agent join --token TOKEN` first');
  }
  await mkdir(config.state_dir, { recursive: true, mode: 0o700 });
  const lock = await lockAgent(config.state_dir);
  if (lock === null) {
    throw new AgentError('already_running', `an agent with the state_dir ${config.state_dir} is running already`);
  }
  try {
    await serve(config, credential, log, signal);
  } finally {
    lock.close();
  }
}

async function serve(
  config: AgentConfig,
  credential: AgentCredential,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const shared = sharedByAdapters();
  const components = config.components.map((component) => ({
    binaryName: component.binary_name,
    dataDir: component.data_dir,
    metricsUrl: component.metrics_url,
    runtime: adapterFor(config, component, shared),
  }));
  for (const { binaryName, runtime } of components) {
    await runtime.prepare();
    for (const warning of await runtime.warnings()) log.warn({ component: binaryName }, warning);
  }

  const store = await AttemptStore.open(config.state_dir, (path, error) =>
    log.error({ err: error, path }, 'the record of an attempt could not be read; it was set aside'),
  );
  const router = new CommandRouter({ store, log, send: (message) => client.send(message), now: Date.now });
  const environment = { store, log, faultPoint: faultPointFromEnvironment(process.env), now: Date.now };
  const reports: HandlerReports = {
    onProgress: (commandId, attemptId, progress) => {
      router.onProgress(commandId, attemptId, progress);
      hand.onProgress(attemptId, progress);
    },
    onResult: (result) => router.onResult(result),
  };
  const stagedOrders = await StagedOrders.open(config.state_dir);
  const staging = new Staging(environment, stagedOrders, reports.onProgress);
  const handler: UpgradeHandler = new UpgradeHandler(environment, components, reports, staging);
  const selfUpgrade = new SelfUpgrade({
    stateDir: config.state_dir,
    binaryName: ownComponent(config)?.binary_name ?? null,
    store,
    systemctl: shared.systemctl,
    reports,
    log,
    now: Date.now,
  });
  const hand: Hand = new Hand({
    store,
    handler,
    now: Date.now,
    requireOther: (binaryName) => selfUpgrade.requireOther(binaryName),
  });
  const heartbeat = new Heartbeat({ components, configPathsOf: (name) => handler.configPathsOf(name), log });
  const nonce = randomUUID();
  const contact = await ContactLog.open(config.state_dir, log, Date.now);
  const client = new GatewayClient({
    openChannel: () => openChannel(config.control_plane),
    credential: credential.credential,
    log,
    listener: {
      hello: () => hello(nonce, heartbeat, router),
      onWelcome: (welcome) => {
        contact.connected();
        router.onSession();
        markSession(config.state_dir).catch((error) => log.warn({ err: error }, 'the session could not be noted'));
        heartbeat.begin(welcome, (value) => {
          if (client.send({ case: 'heartbeat', value })) contact.connected();
        });
      },
      onCommand: (command) => router.onCommand(command),
      onResultAck: (commandId) => router.onResultAck(commandId),
      onLost: () => heartbeat.end(),
      onAway: (reason) => contact.away(reason),
    },
  });
  await router.start({
    handle: (command) => (selfUpgrade.takes(command) ? selfUpgrade.handle(command, signal) : handler.handle(command)),
    acknowledge: async (result) => {
      if (!(await selfUpgrade.isCarryingOut(result.attemptId))) await handler.acknowledge(result);
    },
  });
  await handler.resume(({ binaryName }) => !selfUpgrade.owns(binaryName));
  await selfUpgrade.resume(signal);
  const activations = new ActivationWatch({
    orders: stagedOrders,
    components: components.filter(({ binaryName }) => !selfUpgrade.owns(binaryName)),
    activate: (order) => handler.activate(order),
    now: Date.now,
    tellOtherPlan: (order, message) => router.onResult(otherPlan(order, message)),
    log,
  });
  const activated = activations.run(signal);
  const byHand = await HandServer.open(config.state_dir, hand, log);
  log.info({ node: credential.nodeName, components: components.map(({ binaryName }) => binaryName) }, 'the agent runs');
  await client.run(signal);
  await activated;
  byHand.close();
  heartbeat.end();
  await contact.settled();
}

async function hello(
  instanceNonce: string,
  heartbeat: Heartbeat,
  router: CommandRouter,
): Promise<MessageInitShape<typeof HelloSchema>> {
  return {
    instanceNonce,
    bootId: await bootId(),
    agentVersion: AGENT_VERSION,
    hostname: hostname(),
    platform: platform(),
    components: await heartbeat.reports(),
    openAttemptIds: router.openAttemptIds(),
  };
}
