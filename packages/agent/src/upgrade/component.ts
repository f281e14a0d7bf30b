import type { RuntimeAdapter } from '../runtime/runtime-adapter.ts';

/** One component of the node as the agent's own configuration has it (A17), with the adapter for its runtime. */
export interface Component {
  readonly binaryName: string;
  readonly runtime: RuntimeAdapter;
  /** Its backups are kept in `{dataDir}/.upgrade-backup`. */
  readonly dataDir: string;
}
