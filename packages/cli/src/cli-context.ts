/** Where text goes; `process.stdout` fits. */
export interface Writer {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** A terminal that a full-screen view may take over, keys included. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** All that a command may touch of the outside world. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Writer;
  readonly err: Writer;
  /** Null or left out: a pipe or a file, which gets lines only. */
  readonly terminal?: Terminal | null;
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** Aborts at Ctrl-C. */
  readonly interrupted: AbortSignal;
}
