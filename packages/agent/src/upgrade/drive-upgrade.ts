import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { CommandResultSchema, CommandSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { pino } from 'pino';
import { faultPointFromEnvironment } from '../host/fault-point.ts';
import { FileHashes } from '../host/file-hash.ts';
import { Systemctl } from '../runtime/systemd/systemctl.ts';
import { SystemdAdapter, type SystemdComponent } from '../runtime/systemd/systemd-adapter.ts';
import { AttemptStore } from './attempt-store.ts';
import { UpgradeHandler } from './upgrade-handler.ts';

/**
 * For host tests and benches: the agent's own handler, executor, records and systemd adapter in a process inside a lab
 * host; only the stream that would bring the command is left out. As at the agent's start, what an earlier process left
 * open is finished first. Argument: JSON of `UpgradeOrder`; prints one JSON `CommandResult` a line.
 */
export interface UpgradeOrder {
  readonly component: SystemdComponent & { readonly binaryName: string; readonly dataDir: string };
  readonly stateDir: string;
  /** A `Command` of the wire as JSON; null only finishes what is open. */
  readonly command: JsonValue;
}

const { component, stateDir, command }: UpgradeOrder = JSON.parse(process.argv[2] ?? '');
const runtime = new SystemdAdapter(component, { systemctl: new Systemctl(), hashes: new FileHashes() });
await runtime.prepare();
const log = pino(pino.destination(2));
const store = await AttemptStore.open(stateDir, (path) => log.error({ path }, 'a record could not be read'));
const faultPoint = faultPointFromEnvironment(process.env);
const handler = new UpgradeHandler({ store, log, faultPoint, now: Date.now }, [{ ...component, runtime }], {
  onProgress: () => undefined,
  onResult: (result) => console.log(JSON.stringify(toJson(CommandResultSchema, result))),
});
await handler.resume();
if (command !== null) await handler.handle(fromJson(CommandSchema, command));
