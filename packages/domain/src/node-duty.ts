/** What a chain's expression said of one duty of a node, by the node's latest heartbeat. */
export interface NodeDuty {
  readonly name: string;
  /** Whether the node may be stopped now as far as this duty goes; null: it can't be told. */
  readonly free: boolean | null;
  /** Seconds until it is free, where the chain has an expression for it; null: not known. */
  readonly waitSeconds: number | null;
  /** Metrics that the expression reads and that the node did not report. */
  readonly missing: readonly string[];
}
