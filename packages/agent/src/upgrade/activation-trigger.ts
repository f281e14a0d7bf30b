import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../agent-error.ts';

/** A height at which the old version is to be swapped, as the host can see it. */
export interface Activation {
  readonly height: number;
  /** Upgrade's name in the node's plan file; null: the node stops by itself, or goes on past the height. */
  readonly planName: string | null;
  /** Metric that has the node's height; null: none is known. */
  readonly heightMetric: string | null;
  /** Milliseconds since the epoch, the host's clock, after which nothing is swapped any more; null: never. */
  readonly lapsesAtMs: number | null;
}

/** What was seen of a node in one look. */
export interface NodeSight {
  /** Newest height that was read, now or before; null: never. */
  readonly height: number | null;
  /** Its main process ended, or is another than before, and nobody of ours stopped it. */
  readonly endedByItself: boolean;
  readonly plan: PlanFile | null;
}

/** `upgrade-info.json` of a Cosmos node, written when it stops for an upgrade. */
export interface PlanFile {
  readonly path: string;
  readonly name: string;
  readonly height: number;
  /** Written since the upgrade was staged: that of the last upgrade stays there for good. */
  readonly isNew: boolean;
}

export type Verdict =
  | { readonly kind: 'wait' }
  /** Nobody has renewed the order for too long: it is never acted on. */
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'swap'; readonly why: string }
  /** A plan that is not ours: told, never acted on. */
  | { readonly kind: 'other_plan'; readonly message: string };

/**
 * Whether the moment has come. With a plan, only the node's own plan file says so. Without, the node has ended by itself
 * at the height (its halt height), or is past it: then the old version has made that block for certain, which the
 * height itself does not say, since a node counts a block before it has applied it.
 */
export function judgeActivation({ height, planName, lapsesAtMs }: Activation, seen: NodeSight, nowMs: number): Verdict {
  if (lapsesAtMs !== null && nowMs >= lapsesAtMs) return { kind: 'lapsed' };
  if (planName !== null) {
    if (seen.plan === null) return { kind: 'wait' };
    if (seen.plan.name === planName) return { kind: 'swap', why: `the node wrote its plan ${planName}` };
    if (!seen.plan.isNew) return { kind: 'wait' };
    const message = `${seen.plan.path} names the plan "${seen.plan.name}" for height ${seen.plan.height}, and this upgrade is "${planName}": nothing was swapped`;
    return { kind: 'other_plan', message };
  }
  if (seen.height === null) return { kind: 'wait' };
  if (seen.height > height) return { kind: 'swap', why: `the node is past height ${height}` };
  if (seen.endedByItself && seen.height >= height - 1) {
    return { kind: 'swap', why: `the node ended by itself at height ${seen.height}` };
  }
  return { kind: 'wait' };
}

/**
 * The plan file of a node; null when it has none.
 * @param dataDir of the component: the node's home, or its `data`
 */
export async function readPlanFile(dataDir: string, stagedAtMs: number): Promise<PlanFile | null> {
  for (const folder of ['data', '.']) {
    const path = join(dataDir, folder, 'upgrade-info.json');
    try {
      const { mtimeMs } = await stat(path);
      const { name, height } = JSON.parse(await readFile(path, 'utf8')) as { name?: unknown; height?: unknown };
      if (typeof name === 'string') return { path, name, height: Number(height), isNew: mtimeMs > stagedAtMs };
    } catch (error) {
      if (error instanceof SyntaxError) continue; // it is being written: the next look reads it whole
      if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
    }
  }
  return null;
}
