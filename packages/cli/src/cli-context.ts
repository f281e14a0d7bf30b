/** Where text goes; `process.stdout` fits. */
export interface Writer {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** All that a command may touch of the outside world. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Writer;
  readonly err: Writer;
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** Aborts at Ctrl-C. */
  readonly interrupted: AbortSignal;
}
