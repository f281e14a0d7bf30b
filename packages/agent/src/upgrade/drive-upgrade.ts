import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { CommandResultSchema, CommandSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { loadAgentConfig } from '../agent-config.ts';
import { adapterFor, sharedByAdapters } from '../component-adapters.ts';
import { faultPointFromEnvironment } from '../host/fault-point.ts';
import { runSupervisor } from '../runtime/process/run-supervisor.ts';
import { SUPERVISE } from '../runtime/process/supervisor-command.ts';
import { AttemptStore } from './attempt-store.ts';
import { UpgradeHandler } from './upgrade-handler.ts';

/**
 * For host tests and benches: the agent's own handler, executor, records and adapters in a process inside a lab host;
 * only the stream that would bring the command is left out. As at the agent's start, what an earlier process left open
 * is finished first. Argument: JSON of `UpgradeOrder`; prints one JSON `CommandResult` a line.
 */
export interface UpgradeOrder {
  /** The agent's own file on this host. */
  readonly configFile: string;
  /** A `Command` of the wire as JSON; null only finishes what is open. */
  readonly command: JsonValue;
}

async function drive({ configFile, command }: UpgradeOrder): Promise<void> {
  const config = await loadAgentConfig(configFile);
  const shared = sharedByAdapters();
  const components = config.components.map((component) => ({
    binaryName: component.binary_name,
    dataDir: component.data_dir,
    runtime: adapterFor(config, component, shared),
  }));
  for (const { runtime } of components) await runtime.prepare();
  const log = pino(pino.destination(2));
  const store = await AttemptStore.open(config.state_dir, (path) => log.error({ path }, 'a record could not be read'));
  const environment = { store, log, faultPoint: faultPointFromEnvironment(process.env), now: Date.now };
  const handler = new UpgradeHandler(environment, components, {
    onProgress: () => undefined,
    onResult: (result) => console.log(JSON.stringify(toJson(CommandResultSchema, result))),
  });
  await handler.resume();
  if (command !== null) await handler.handle(fromJson(CommandSchema, command));
}

const [, , first = '', folder = ''] = process.argv;
if (first === SUPERVISE) await runSupervisor(folder);
else await drive(JSON.parse(first));
