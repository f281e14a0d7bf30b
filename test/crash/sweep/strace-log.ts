/** One finished system call of a traced program, as `strace -f -y` writes it. */
export interface SystemCall {
  readonly thread: number;
  readonly name: string;
  /** Between the parentheses, unparsed. */
  readonly args: string;
  /** After the equals sign: `3</etc/app>`, `0`, `-1 ENOENT (…)`, `?` for one that never returned. */
  readonly result: string;
}

const LINE = /^(\d+) +(.*)$/;
const UNFINISHED = / <unfinished \.\.\.>$/;
const RESUMED = /^<\.\.\. (\w+) resumed>(.*)$/;
const CALL = /^(\w+)\((.*)\) += (.+)$/;

/**
 * Reads the log of `strace -f -y -o FILE`. A call that another thread's line interrupted is put together again and
 * stands where it ended; signals and exits are left out.
 */
export function parseStraceLog(log: string): SystemCall[] {
  const begun = new Map<number, string>();
  const calls: SystemCall[] = [];
  for (const line of log.split('\n')) {
    const [, pid, text = ''] = LINE.exec(line) ?? [];
    if (pid === undefined) continue;
    const thread = Number(pid);
    if (UNFINISHED.test(text)) {
      begun.set(thread, text.replace(UNFINISHED, ''));
      continue;
    }
    const resumed = RESUMED.exec(text);
    const whole = resumed === null ? text : `${begun.get(thread) ?? ''}${resumed[2]}`;
    if (resumed !== null) begun.delete(thread);
    const [, name, args, result] = CALL.exec(whole) ?? [];
    if (name !== undefined && args !== undefined && result !== undefined) calls.push({ thread, name, args, result });
  }
  return calls;
}
