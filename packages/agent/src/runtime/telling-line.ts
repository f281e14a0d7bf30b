/** What programs write when they give up; Go's panic is followed by a page of stack trace. */
const GIVING_UP = /\b(panic|fatal|error|failed|cannot|refus\w+)\b/i;
const LONGEST = 500;

/**
 * The line that tells an operator most about why a program ended: the last one that speaks of a failure, else the last
 * one. Undefined when it wrote nothing.
 */
export function tellingLine(lines: readonly string[]): string | undefined {
  const panic = lines.findLast((line) => /^panic:|^fatal error:/i.test(line));
  return (panic ?? lines.findLast((line) => GIVING_UP.test(line)) ?? lines.at(-1))?.slice(0, LONGEST);
}
