const CONTEXT_LINES = 3;
/** Cells of the comparison's table; above it what differs is shown as one block. */
const MAX_CELLS = 4_000_000;

/** How one text became another, by lines. */
export interface LineDiff {
  /** Ranges of the new text that the old one doesn't have, and places where it lost lines: `3-4, 10, after 12 (2 gone)`. */
  readonly places: string;
  /** Unified diff without the two lines of file names; a line each. */
  readonly unified: readonly string[];
}

/** Lines kept, removed and added, in order. `old` and `now` are 0-based positions before the line. */
interface Step {
  readonly kind: ' ' | '-' | '+';
  readonly line: string;
  readonly old: number;
  readonly now: number;
}

/** Compares two texts; equal ones give no places and no lines. */
export function diffLines(old: string, now: string): LineDiff {
  const steps = stepsBetween(linesOf(old), linesOf(now));
  const blocks = blocksOf(steps);
  return {
    places: blocks.map((block) => placeOf(steps.slice(block.from, block.to))).join(', '),
    unified: hunksOf(steps, blocks),
  };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else if (lines.length > 0) lines.push('\\ No newline at end of file');
  return lines;
}

/** What both ends share is taken off; in between the longest common subsequence is kept. */
function stepsBetween(old: readonly string[], now: readonly string[]): Step[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const shorter = Math.min(old.length, now.length) - head;
  while (tail < shorter && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const a = old.slice(head, old.length - tail);
  const b = now.slice(head, now.length - tail);
  const steps: Step[] = old.slice(0, head).map((line, index) => ({ kind: ' ', line, old: index, now: index }));
  for (const kind of pathThrough(a, b)) {
    const last = steps.at(-1);
    const at = last === undefined ? { old: 0, now: 0 } : after(last);
    const line = kind === '+' ? b[at.now - head] : a[at.old - head];
    steps.push({ kind, line: line ?? '', ...at });
  }
  for (const line of old.slice(old.length - tail)) {
    const last = steps.at(-1);
    steps.push({ kind: ' ', line, ...(last === undefined ? { old: 0, now: 0 } : after(last)) });
  }
  return steps;
}

function after({ kind, old, now }: Step): { old: number; now: number } {
  return { old: kind === '+' ? old : old + 1, now: kind === '-' ? now : now + 1 };
}

function pathThrough(a: readonly string[], b: readonly string[]): Step['kind'][] {
  if (a.length * b.length > MAX_CELLS) return [...a.map(() => '-' as const), ...b.map(() => '+' as const)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const path: Step['kind'][] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      path.push(' ');
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      path.push('-');
      i++;
    } else {
      path.push('+');
      j++;
    }
  }
  return path;
}

/** Runs of changed lines as ranges of steps. */
function blocksOf(steps: readonly Step[]): { from: number; to: number }[] {
  const blocks: { from: number; to: number }[] = [];
  steps.forEach(({ kind }, index) => {
    const last = blocks.at(-1);
    if (kind === ' ') return;
    if (last?.to === index) last.to++;
    else blocks.push({ from: index, to: index + 1 });
  });
  return blocks;
}

function placeOf(block: readonly Step[]): string {
  const added = block.filter(({ kind }) => kind === '+');
  const first = added[0];
  if (first === undefined) return `after ${block[0]?.now ?? 0} (${block.length} gone)`;
  return added.length === 1 ? `${first.now + 1}` : `${first.now + 1}-${first.now + added.length}`;
}

function hunksOf(steps: readonly Step[], blocks: readonly { from: number; to: number }[]): string[] {
  const hunks: { from: number; to: number }[] = [];
  for (const { from, to } of blocks) {
    const wide = { from: Math.max(0, from - CONTEXT_LINES), to: Math.min(steps.length, to + CONTEXT_LINES) };
    const last = hunks.at(-1);
    if (last !== undefined && wide.from <= last.to) last.to = wide.to;
    else hunks.push(wide);
  }
  return hunks.flatMap(({ from, to }) => {
    const part = steps.slice(from, to);
    return [headOf(part), ...part.map(({ kind, line }) => (line.startsWith('\\ ') ? line : `${kind}${line}`))];
  });
}

function headOf(part: readonly Step[]): string {
  const range = (start: number, count: number) => `${count === 0 ? start : start + 1},${count}`;
  const count = (kind: Step['kind']) =>
    part.filter((step) => step.kind !== kind && !step.line.startsWith('\\ ')).length;
  return `@@ -${range(part[0]?.old ?? 0, count('+'))} +${range(part[0]?.now ?? 0, count('-'))} @@`;
}
