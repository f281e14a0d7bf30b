import type { AgentConfig, ComponentConfig } from '../../agent-config.ts';
import type { RuntimeAdapter, RuntimeStatus } from '../../runtime/runtime-adapter.ts';
import type { AttemptRecord } from '../../upgrade/attempt-record.ts';

/** What one check found; `todo` names what to do about it. */
export interface Finding {
  readonly check: string;
  /** `trouble`: an upgrade would fail, or something needs a person now. `warning`: it may one day. */
  readonly verdict: 'ok' | 'warning' | 'trouble';
  readonly found: string;
  readonly todo: string | null;
}

/** What the checks look at: read once. */
export interface Patient {
  readonly config: AgentConfig;
  /** Newest first, of all components. */
  readonly records: readonly AttemptRecord[];
  readonly unreadableRecords: readonly string[];
  readonly components: readonly ExaminedComponent[];
}

export interface ExaminedComponent {
  readonly config: ComponentConfig;
  readonly adapter: RuntimeAdapter;
  /** Null: the runtime doesn't answer; `statusError` says why. */
  readonly status: RuntimeStatus | null;
  readonly statusError: string | null;
}

/** One check; what it throws is a finding too. */
export type Check = (patient: Patient) => Promise<readonly Finding[]>;

export function ok(check: string, found: string): Finding {
  return { check, verdict: 'ok', found, todo: null };
}

export function warning(check: string, found: string, todo: string): Finding {
  return { check, verdict: 'warning', found, todo };
}

export function trouble(check: string, found: string, todo: string): Finding {
  return { check, verdict: 'trouble', found, todo };
}
