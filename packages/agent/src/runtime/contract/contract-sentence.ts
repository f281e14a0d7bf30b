import type { AcquireOptions, RuntimeAdapter, WantedArtifact } from '../runtime-adapter.ts';

/** How a test artifact behaves when it runs; `slow_to_stop` stays after its stop signal until `letStop`. */
export type ArtifactBehaviour = 'runs' | 'crashes' | 'slow_to_stop';

/** One service on a real (or imitated) host; installed is an artifact that runs, and nothing is started. */
export interface ConformanceService {
  /** A new adapter on the same service, as a restarted agent has it. */
  readonly adapter: () => RuntimeAdapter;
  readonly installedChecksum: string;
  /** Makes an artifact, different from every other one, and offers it for download. */
  readonly offer: (behaviour: ArtifactBehaviour) => Promise<WantedArtifact>;
  /** An existing config with a mode of its own, and one that doesn't exist. */
  readonly configPath: string;
  readonly newConfigPath: string;
  readonly forbiddenPath: string;
  /** What a config is, as the host shows it: content and permission bits; null when it isn't there. */
  readonly readConfig: (path: string) => Promise<{ content: string; mode: number } | null>;
  readonly backupDir: string;
  /** Damages the binary's copy in a backup. */
  readonly damageBackup: (backupDir: string) => Promise<void>;
  /** Pids of all living instances, looked up on the host and not through the adapter. */
  readonly livePids: () => Promise<number[]>;
  /** Lets an artifact that is slow to stop come to its end. */
  readonly letStop: () => Promise<void>;
  /** The main process ends as by a crash. */
  readonly crash: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** What a sentence is judged with. */
export interface ContractScene {
  readonly service: ConformanceService;
  readonly adapter: RuntimeAdapter;
  /** Within which everything must have happened that happens at all, in milliseconds. */
  readonly patienceMs: number;
  readonly soon: () => AbortSignal;
  readonly start: () => Promise<void>;
  /** Acquires and installs a new artifact while the service is stopped, as an attempt with a backup of its own. */
  readonly install: (behaviour: ArtifactBehaviour, backupDir?: string) => Promise<WantedArtifact>;
  /** Backs the artifact and both configs up to the service's backup folder. */
  readonly backUp: () => Promise<void>;
  readonly newBackupDir: () => string;
  readonly acquireOptions: (backupDirs?: readonly string[]) => AcquireOptions;
}

/** One sentence of the contract in `runtime-adapter.ts`, and what shows that an adapter keeps it. */
export interface ContractSentence {
  readonly says: string;
  readonly holds: (scene: ContractScene) => Promise<void>;
}
