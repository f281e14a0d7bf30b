/** A config that somebody edited on the host since we last wrote it (E4). */
export interface ConfigDrift {
  readonly path: string;
  /** Lines of the host's file that differ, e.g. `3-4, 10`; empty when it can't be told. */
  readonly places: string;
  /** Unified diff from what we wrote to what is there; empty unless the chain allows it to travel (C12). */
  readonly diff: readonly string[];
  /** The upgrade went on over it. */
  readonly overwritten: boolean;
}

/** How edited configs are told of. */
export interface DriftReporting {
  readonly showDiff: boolean;
  /** What we last wrote, as long as an attempt's record has it; null when none does. */
  readonly lastWritten: (path: string, checksum: string) => Promise<Uint8Array | null>;
  readonly tell: (drift: ConfigDrift) => void;
}
