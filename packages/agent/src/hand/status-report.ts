import type { AgentConfig, ComponentConfig } from '../agent-config.ts';
import { loadCredential } from '../agent-credential.ts';
import { describeError } from '../agent-error.ts';
import { isAgentRunning } from '../agent-lock.ts';
import { AGENT_VERSION } from '../agent-version.ts';
import { adapterFor, type SharedByAdapters, sharedByAdapters } from '../component-adapters.ts';
import { type Contact, readContact } from '../gateway-contact.ts';
import type { RuntimeStatus } from '../runtime/runtime-adapter.ts';
import { type AttemptRecord, openOperations } from '../upgrade/attempt-record.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import type { Version } from './rollback-preview.ts';
import { versionNames } from './version-names.ts';

/** What `hoodcloud-agent status` tells, and prints with `--json`. */
export interface StatusReport {
  readonly agent_version: string;
  readonly agent_running: boolean;
  /** Null: this host has not joined. */
  readonly node: { readonly id: string; readonly name: string } | null;
  readonly control_plane: Contact & { readonly address: string };
  readonly components: readonly ComponentStatus[];
  /** Records of attempts that nobody can read. */
  readonly unreadable_records: readonly string[];
}

export interface ComponentStatus {
  readonly binary_name: string;
  readonly service: string;
  readonly runtime: string;
  /** Null when the runtime can't be asked: `error` says why. */
  readonly state: RuntimeStatus['state'] | null;
  /** An upgrade keeps it down: it doesn't come up by itself. */
  readonly held: boolean;
  readonly main_pid: number | null;
  readonly restarts: number;
  readonly running: Version;
  readonly installed: Version;
  readonly open: OpenAttempt | null;
  readonly error: string | null;
}

export interface OpenAttempt {
  readonly attempt_id: string;
  readonly operation: string;
  /** Null: it has not begun. */
  readonly step: string | null;
  readonly step_state: string | null;
  readonly direction: 'forward' | 'undo';
  /** RFC 3339. */
  readonly began_at: string;
  readonly why_undone: string | null;
}

const NEVER: Contact = { connected: false, last_contact_at: null, reason: 'no agent has tried yet' };

/** Looks at the host, the agent's records and its notes; asks nobody else, changes nothing. */
export async function statusReport(config: AgentConfig): Promise<StatusReport> {
  const unreadable: string[] = [];
  const records = await AttemptStore.look(config.state_dir, (path) => unreadable.push(path)).list();
  const [running, credential, contact] = await Promise.all([
    isAgentRunning(config.state_dir),
    loadCredential(config.state_dir),
    readContact(config.state_dir),
  ]);
  const shared = sharedByAdapters();
  return {
    agent_version: AGENT_VERSION,
    agent_running: running,
    node: credential && { id: credential.nodeId, name: credential.nodeName },
    control_plane: {
      address: config.control_plane.address,
      ...(contact ?? NEVER),
      ...(!running && { connected: false, reason: 'the agent does not run' }),
    },
    components: await Promise.all(config.components.map((one) => componentStatus(config, one, shared, records))),
    unreadable_records: unreadable,
  };
}

async function componentStatus(
  config: AgentConfig,
  component: ComponentConfig,
  shared: SharedByAdapters,
  all: readonly AttemptRecord[],
): Promise<ComponentStatus> {
  const records = all.filter(({ binaryName }) => binaryName === component.binary_name);
  const names = versionNames(records);
  const version = (checksum: string | null): Version => ({ checksum, version: names.get(checksum ?? '') ?? null });
  const adapter = adapterFor(config, component, shared);
  const { status, error } = await adapter.status().then(
    (found) => ({ status: found, error: null }),
    (failed: unknown) => ({ status: null, error: describeError(failed).message }),
  );
  return {
    binary_name: component.binary_name,
    service: adapter.serviceName(),
    runtime: adapter.runtimeType,
    state: status?.state ?? null,
    held: status?.held ?? false,
    main_pid: status?.mainPid ?? null,
    restarts: status?.restarts ?? 0,
    running: version(status?.runningChecksum ?? null),
    installed: version(status?.installedChecksum ?? null),
    open: openAttempt(records),
    error,
  };
}

/** The attempt that is not settled, if one is: by rule there is at most one a component. */
export function openAttempt(records: readonly AttemptRecord[]): OpenAttempt | null {
  const record = records.find((one) => openOperations(one).length > 0);
  if (record === undefined) return null;
  const [operation] = openOperations(record)[0] ?? ['UPGRADE'];
  const { steps, direction, failure } = record.progress;
  const step = steps.find(({ state }) => state === 'undo_intended') ?? steps.at(-1);
  return {
    attempt_id: record.attemptId,
    operation,
    step: step?.name ?? null,
    step_state: step?.state ?? null,
    direction,
    began_at: new Date(record.createdAtMs).toISOString(),
    why_undone: failure?.message ?? null,
  };
}
