import { Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { seededRandom } from '@hoodcloud/domain/seeded-random';

/** How simulated upgrades go; the seed draws for each attempt. */
export interface UpgradeScript {
  readonly seed: string;
  /** Shortest and longest time of an upgrade, milliseconds. */
  readonly upgradeMs: readonly [number, number];
  /** Share of upgrades that the agent undoes by itself, 0 to 1. */
  readonly rolledBackShare: number;
  /** Milliseconds between reports of progress; null: only the four phases are told. */
  readonly reportEveryMs: number | null;
}

/** How one attempt goes. */
export interface ScriptedUpgrade {
  readonly ms: number;
  readonly outcome: Outcome.COMPLETED | Outcome.ROLLED_BACK;
}

/** Every upgrade works, at once. */
export const ALL_GOOD: UpgradeScript = { seed: 'good', upgradeMs: [0, 0], rolledBackShare: 0, reportEveryMs: null };

/** The same for the same seed and attempt, in whatever order attempts come. */
export function scriptedUpgrade(
  { seed, upgradeMs, rolledBackShare }: UpgradeScript,
  attemptId: string,
): ScriptedUpgrade {
  const random = seededRandom(`${seed} ${attemptId}`);
  const [shortest, longest] = upgradeMs;
  const outcome = random() < rolledBackShare ? Outcome.ROLLED_BACK : Outcome.COMPLETED;
  return { ms: shortest + random() * (longest - shortest), outcome };
}
