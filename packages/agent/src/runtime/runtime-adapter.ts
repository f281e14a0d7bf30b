import { AgentError } from '../agent-error.ts';
import type { HookRunner } from './hook-contract.ts';

/**
 * How one runtime (systemd, Docker, plain processes) does what the actions ask for (spec "RuntimeAdapter Interface").
 *
 * Contract of every method, proved by one conformance suite over every adapter:
 * - Idempotent: run twice, or again after a crash in the middle, it ends in the same state.
 * - Atomic where it replaces something: a reader sees the old or the new, never a mixture; after a power cut too.
 * - Honest: it resolves only when the host shows the result, and rejects with a `RuntimeError` whose sentence says what
 *   to do. It never swallows an error and never reports from memory.
 * - Stops early when `signal` aborts, leaving a state that the undo of its action copes with.
 */
export interface RuntimeAdapter {
  readonly runtimeType: 'systemd' | 'docker' | 'process';
  readonly artifactKind: 'file' | 'image';
  /** Runs steps of the vendor as this runtime runs the node. */
  readonly hooks: HookRunner;

  /** Unit, container or process name, for people. */
  serviceName(): string;

  /**
   * Lays what the hold needs on this host (systemd: the drop-in; process: the supervisor), when the agent joins and at
   * each of its starts (A18a). Idempotent; never starts, stops or restarts a service that an operator has stopped.
   */
  prepare(): Promise<void>;
  /** Takes away what `prepare` laid, the hold included; the service goes on as it is. Idempotent. */
  leave(): Promise<void>;

  /**
   * Everything but the artifact that would stand in the way only after the stop (A10): a service that can't be started or
   * stopped, another instance that writes in the node's data folder (A19). Looks, changes nothing.
   * @throws RuntimeError with the reason
   */
  requireReady(): Promise<void>;
  /** What about this host's set-up may surprise an upgrade, or bring an old version back; sentences for the operator. */
  warnings(): Promise<readonly string[]>;

  /** What the host shows now. Never cached. */
  status(): Promise<RuntimeStatus>;

  /**
   * Starts the service and resolves when its main process has been the same for `stableMs` without a restart (A15, D4c);
   * `toleratedRestarts` may come before that.
   * Proves first that no earlier instance is alive (A19), clears what refuses a start (failed counters), removes the hold.
   * Idempotent: a service that runs already is not started again, only watched until it is stable; whether it runs the
   * wanted artifact is for the caller to ask (A6).
   * @throws RuntimeError `start_failed` with the cause, `fence_violated` when an earlier instance still lives
   */
  start(options: StartOptions): Promise<void>;

  /**
   * Asks the service to stop and waits until its processes (pid and start time) are gone. Never kills (A7).
   * Idempotent: resolves at once when it is stopped. After it returns the service doesn't come back by itself: the
   * caller has written the hold before.
   * @throws RuntimeError `stop_overrun` when the budget (the signal) ends first; the stop then goes on by itself
   */
  stop(signal: AbortSignal): Promise<void>;

  /**
   * Waits until every process of the service has ended by itself; used after a `stop_overrun` (A7).
   * The signal ends the waiting, never the process.
   */
  waitUntilGone(signal: AbortSignal): Promise<void>;

  /** Writes the mark that keeps the service down through a power cut, fsynced (A18a). Idempotent. */
  hold(): Promise<void>;
  /** Removes the mark; done just before a deliberate start. Idempotent. */
  release(): Promise<void>;

  /** Fetches the artifact to where it can be installed by a rename; hashed while it arrives (A11). */
  acquireArtifact(artifact: WantedArtifact, options: AcquireOptions): Promise<ArtifactHandle>;
  /** Whether the wanted artifact is already here and its checksum is right; null when not. */
  findAcquiredArtifact(artifact: WantedArtifact): Promise<ArtifactHandle | null>;
  /** Removes an acquired artifact that was not installed. Idempotent. */
  discardArtifact(artifact: WantedArtifact): Promise<void>;

  /**
   * Checksum, platform, executable: everything that can be known before the stop (A10). Safe to repeat.
   * @throws RuntimeError `checksum_mismatch`, `wrong_platform`, `not_executable`
   */
  verifyArtifact(handle: ArtifactHandle, signal: AbortSignal): Promise<void>;

  /** Whether the installed artifact has this checksum. */
  isArtifactInstalled(installedChecksum: string): Promise<boolean>;
  /**
   * Swaps the installed artifact for the acquired one, by rename; owner and mode of the old one kept (A8).
   * @param backupDir the attempt's whole backup: its folder's name is the attempt's id
   */
  installArtifact(handle: ArtifactHandle, backupDir: string, signal: AbortSignal): Promise<void>;

  /** Copies what an undo needs into `backupDir`; `manifest.json` is written last and fsynced (spec "Backup Directory"). */
  backupState(backupDir: string, configPaths: readonly string[], signal: AbortSignal): Promise<void>;
  /** Whether the backup is whole: manifest there, every checksum right. */
  isBackedUp(backupDir: string): Promise<boolean>;
  /**
   * Removes a backup that nothing needs any more (A13), and before it what only a restore from it would use (Docker's
   * `.bak`). The service stays as it is. Idempotent.
   */
  removeBackup(backupDir: string): Promise<void>;
  /**
   * Puts the artifact (not the configs) of the backup back, by rename, after the three-way check (A12), and hashes again.
   * @throws RuntimeError `backup_corrupt`
   */
  restoreArtifact(backupDir: string, signal: AbortSignal): Promise<void>;

  /** Replaces a config file atomically; an existing one keeps owner and mode, a new one gets 0644 (A8). */
  writeConfig(path: string, content: Uint8Array): Promise<void>;
  /** Whether the file's SHA-256 is the expected one (`sha256:<hex>`). */
  isConfigWritten(path: string, expectedChecksum: string): Promise<boolean>;
  /** `sha256:<hex>` of a config file as it is now; null when it isn't there. */
  configChecksum(path: string): Promise<string | null>;
  /** A config file as it is now; null when it isn't there or is larger than `maxBytes`. */
  readConfig(path: string, maxBytes: number): Promise<Uint8Array | null>;
  /** Puts a config back as the backup has it; one that didn't exist before is removed (A12). */
  restoreConfig(backupDir: string, path: string): Promise<void>;

  /** Makes the runtime read changed definitions (`systemctl daemon-reload`); a no-op where there are none. */
  reloadDaemon(signal: AbortSignal): Promise<void>;

  /** The attempt is proved good: leftovers that only an undo needs may go (Docker's `.bak`) (B2). */
  confirm(backupDir: string): Promise<void>;

  /** Last lines of the service's log since its latest start, oldest first (A18). */
  logTail(maxLines: number): Promise<string[]>;
}

export interface RuntimeStatus {
  /** `waiting_restart`: it ended and the runtime will start it again (systemd's auto-restart): wanted running (A3). */
  readonly state: 'running' | 'starting' | 'stopping' | 'waiting_restart' | 'stopped';
  /** The operator wants it to run: running, starting or waiting for a restart. */
  readonly wantedRunning: boolean;
  readonly mainPid: number | null;
  /** The mark of `hold()` is there: the service can't come up by itself (A18a). */
  readonly held: boolean;
  /** Clock ticks since boot, /proc/<pid>/stat field 22; with the pid it names a process for good. */
  readonly mainPidStartedAt: number | null;
  readonly restarts: number;
  /** `sha256:<hex>` of /proc/<pid>/exe of a process of the service, or the image digest; null when nothing runs (A6). */
  readonly runningChecksum: string | null;
  /** `sha256:<hex>` of the installed file or digest of the container's image; null when nothing is installed. */
  readonly installedChecksum: string | null;
}

export interface StartOptions {
  readonly signal: AbortSignal;
  /** The main process must stay the same for so long. */
  readonly stableMs: number;
  /**
   * Restarts by the runtime that the start may use up before it has failed; the stable time begins anew after each. None
   * when left out. For nodes that exit until a condition of their chain holds (CometBFT's `double_sign_check_height`).
   */
  readonly toleratedRestarts?: number;
}

export interface WantedArtifact {
  readonly name: string;
  /** Empty when nobody knows one: then only a kept backup can hold it, as in a rollback (A12a). */
  readonly url: string;
  /** `sha256:<hex>` of the downloaded file, or the image digest. */
  readonly checksum: string;
  /** Member of an archive to install; null for a plain file. */
  readonly member: string | null;
  /** `sha256:<hex>` of what gets installed, when it is known before: a member differs from its archive (A6, A12a). */
  readonly installedChecksum?: string;
  /** Where a detached signature of the downloaded file is. */
  readonly signature?: { readonly format: 'minisign' | 'cosign_bundle'; readonly url: string };
  /** Keys of which one must have signed it; absent: nobody asks. The agent's own file wins over them. */
  readonly signedBy?: readonly string[];
  /** How the new binary is tried before the stop; absent: `--version`, and any answer counts. */
  readonly dryStart?: { readonly args: readonly string[]; readonly timeoutMs: number };
  /** The link at the install path is pointed to a place of its own for this version; absent: it is followed (A8). */
  readonly release?: WantedRelease;
}

export interface WantedRelease {
  /** Safe as the name of a file, e.g. `v1.2.0`, or the name of a Cosmos upgrade. */
  readonly name: string;
  /** A place that holds the wanted content already is taken, whatever its name: the way back to it. */
  readonly anyWithContent: boolean;
}

export interface AcquireOptions {
  readonly signal: AbortSignal;
  /** Looked at before the network: kept backups that may hold the wanted content (A12a). */
  readonly backupDirs: readonly string[];
  readonly onProgress: (progress: { receivedBytes: number; totalBytes: number | null }) => void;
}

export interface ArtifactHandle {
  readonly artifact: WantedArtifact;
  /** Where it lies: a file beside the install path, or an image reference. */
  readonly location: string;
  /** Checksum of what gets installed; differs from `artifact.checksum` for a member of an archive (A6). */
  readonly installedChecksum: string;
}

/** A runtime could not do what it was asked; `message` is the sentence that the operator reads. */
export class RuntimeError extends AgentError {}
