import { renderDuration } from './duration-text.ts';

/** Nothing tells when a node is free next: then it is asked again this often, in milliseconds. */
const ASK_AGAIN_MS = 10_000;
/** A forecast is looked at again before it is over: slots move. */
const LONGEST_WAIT_MS = 60_000;

/**
 * How long until a node on duty is asked again, in milliseconds.
 * @param waitSeconds until it is free, as somebody foresees it; null: nobody does
 */
export function askAgainInMs(waitSeconds: number | null): number {
  return waitSeconds === null ? ASK_AGAIN_MS : Math.min(Math.max(waitSeconds * 1000, 1_000), LONGEST_WAIT_MS);
}

/** Seconds until the node is free, where a command's output has a line `free_in_seconds=340`; the last one counts. */
export function freeInSeconds(output: string): number | null {
  const said = [...output.matchAll(/^free_in_seconds=(\d{1,9}(?:\.\d+)?)\s*$/gm)].at(-1)?.[1];
  return said === undefined ? null : Number(said);
}

/** `its next free window comes in about 5 m` */
export function nextWindowText(waitSeconds: number | null): string {
  if (waitSeconds === null) return 'when it is free next is not known';
  return `its next free window comes in about ${renderDuration(waitSeconds * 1000)}`;
}

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
