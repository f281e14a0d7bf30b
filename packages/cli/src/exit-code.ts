/** What `hoodctl` tells the shell; documented in `hoodctl --help` and docs/reference/hoodctl.md. */
export const EXIT = {
  /** What was asked is done. */
  done: 0,
  /** It failed, or was refused. */
  failed: 1,
  /** The command line is wrong; nothing was sent. */
  usage: 2,
  /** The rollout is paused or waits for an approval: a person is needed. */
  needsPerson: 3,
  /** The plan would change nodes. */
  planWouldChange: 4,
  /** `--timeout` passed first; the server's work goes on. */
  timedOut: 5,
  /** A person left a watch by `q` or Ctrl-C; what shells say for a program ended by it. */
  left: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
