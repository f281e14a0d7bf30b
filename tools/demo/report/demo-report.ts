import { writeFile } from 'node:fs/promises';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import type { HeightReport } from '@hoodcloud/testkit/chains/height-watcher';
import type { ObservedNode } from './observe-nodes.ts';

/** The demo's report: what processes, chain and rows showed, read after the fact. */
export interface DemoReport {
  readonly nodes: readonly {
    readonly name: string;
    readonly before: { readonly version: string; readonly sha256: string };
    readonly after: { readonly version: string; readonly sha256: string };
  }[];
  readonly chain: { readonly first_height: number; readonly last_height: number; readonly longest_pause_ms: number };
  readonly bad_release: {
    readonly rollout_status: string;
    readonly reason: string | null;
    readonly nodes: readonly {
      readonly name: string;
      readonly status: string;
      readonly phase: string | null;
      readonly running_sha256: string;
    }[];
  };
  readonly seconds: { readonly setup: number; readonly rollout: number; readonly bad_release: number };
}

/** What the report is made of. */
export interface Observations {
  /** Version by SHA-256: what a binary says about itself is not relied on (D4b). */
  readonly versions: ReadonlyMap<string, string>;
  readonly before: readonly ObservedNode[];
  readonly after: readonly ObservedNode[];
  /** After the bad release was offered and undone. */
  readonly afterBadRelease: readonly ObservedNode[];
  readonly chain: HeightReport;
  /** The bad release's rows when it had paused itself. */
  readonly badRollout: RolloutDetail;
  readonly badNodes: readonly RolloutNodeView[];
  readonly seconds: DemoReport['seconds'];
}

/** Puts the observations in the report's form; nodes are matched by name. */
export function makeReport(seen: Observations): DemoReport {
  const identity = ({ sha256 }: ObservedNode) => ({ version: seen.versions.get(sha256) ?? 'unknown', sha256 });
  return {
    nodes: seen.before.map((node) => ({
      name: node.name,
      before: identity(node),
      after: identity(named(seen.after, node.name)),
    })),
    chain: {
      first_height: seen.chain.firstHeight,
      last_height: seen.chain.lastHeight,
      longest_pause_ms: seen.chain.longestPauseMs,
    },
    bad_release: {
      rollout_status: seen.badRollout.status,
      reason: seen.badRollout.status_reason?.code ?? null,
      nodes: seen.badNodes.map((row) => ({
        name: row.node_name,
        status: row.status,
        phase: row.upgrade_phase,
        running_sha256: named(seen.afterBadRelease, row.node_name).sha256,
      })),
    },
    seconds: seen.seconds,
  };
}

export async function writeReport(file: string, report: DemoReport): Promise<void> {
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}

function named(nodes: readonly ObservedNode[], name: string): ObservedNode {
  const found = nodes.find((node) => node.name === name);
  if (!found) throw new Error(`${name} was not observed`);
  return found;
}
