/** A part of the control plane that runs in this process until it is stopped. */
export interface RunningRole {
  readonly name: string;
  /** Where it listens, for people; empty when it doesn't. */
  readonly address: string;
  /** Rejects when the role can't go on; never settles otherwise until it is stopped. */
  readonly failed: Promise<never>;
  /** Takes no new work, ends what runs, gives back what it holds. */
  stop(): Promise<void>;
}

/** For roles that never end by themselves. */
export const NEVER_FAILS: Promise<never> = new Promise(() => undefined);
