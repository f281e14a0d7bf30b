/** What programs write when they give up; Go's panic is followed by a page of stack trace. */
const GIVING_UP = /\b(panic|fatal|error|failed|cannot|refus\w+)\b/i;
const PANIC = /^panic:|^fatal error:/i;
const LONGEST = 500;

/**
 * The line that tells an operator most about why a program ended: the last one that speaks of a failure, else the last
 * one. Undefined when it wrote nothing.
 */
export function tellingLine(lines: readonly string[]): string | undefined {
  const panic = lines.findLast((line) => PANIC.test(line));
  return (panic ?? lines.findLast((line) => GIVING_UP.test(line)) ?? lines.at(-1))?.slice(0, LONGEST);
}

/**
 * The lines of a log that tell why a program ended (A18): the last ones or, where a panic stands further up, above its
 * long stack, those from the panic on.
 */
export function tellingLines(lines: readonly string[], most: number): string[] {
  const panic = lines.findLastIndex((line) => PANIC.test(line));
  const last = lines.length - most;
  const first = Math.max(0, panic === -1 ? last : Math.min(panic, last));
  return lines.slice(first, first + most);
}
