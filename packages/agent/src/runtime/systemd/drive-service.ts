import { describeError } from '../../agent-error.ts';
import { FileHashes } from '../../host/file-hash.ts';
import { Systemctl } from './systemctl.ts';
import { SystemdService } from './systemd-service.ts';

/**
 * For host tests: one call of the service from a process of its own inside a lab host, as an agent that was started
 * anew would make it. Argument: JSON of `DriveOrder`; prints JSON of `DriveAnswer`.
 */
export interface DriveOrder {
  readonly unit: string;
  readonly installPath: string;
  readonly dataDir: string;
  /** Whose systemd; null: the machine's. */
  readonly user: string | null;
  readonly method:
    | 'prepare'
    | 'leave'
    | 'requireReady'
    | 'warnings'
    | 'status'
    | 'hold'
    | 'release'
    | 'start'
    | 'stop'
    | 'waitUntilGone'
    | 'logTail';
  /** Budget of the call, milliseconds. */
  readonly budgetMs: number;
  readonly stableMs: number;
}

export interface DriveAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

const order: DriveOrder = JSON.parse(process.argv[2] ?? '');
const service = new SystemdService(order, { systemctl: new Systemctl().forUser(order.user), hashes: new FileHashes() });
console.log(JSON.stringify(await drive()));
process.exit(); // a stop that overran goes on by itself, and what still waits for it must not hold the answer back

async function drive(): Promise<DriveAnswer> {
  try {
    return { result: (await invoke()) ?? null };
  } catch (error) {
    return { error: describeError(error) };
  }
}

function invoke(): Promise<unknown> {
  const signal = AbortSignal.timeout(order.budgetMs);
  switch (order.method) {
    case 'start':
      return service.start({ signal, stableMs: order.stableMs });
    case 'stop':
    case 'waitUntilGone':
      return service[order.method](signal);
    case 'logTail':
      return service.logTail(200);
    default:
      return service[order.method]();
  }
}
