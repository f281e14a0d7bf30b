/** Where a step of the vendor has its place among the steps of an upgrade. */
export const HOOK_POINTS = ['before_stop', 'after_install', 'duty', 'after_health', 'on_error'] as const;
export type HookPoint = (typeof HOOK_POINTS)[number];

/** A step of the vendor: a program that runs once beside the upgrade's own steps (`geth db compact`). */
export interface VendorHook {
  /** Unique in an upgrade; safe as the name of a file and of a unit. */
  readonly name: string;
  readonly at: HookPoint;
  /** Program and arguments, never a shell's line. The program is `{binary}`, or an absolute path that the host allows. */
  readonly command: readonly string[];
  /** Milliseconds it may take; then it is ended, and has failed. */
  readonly timeoutMs: number;
  /** What takes it back; null: nothing does, which somebody acknowledged. */
  readonly undo: readonly string[] | null;
  /** May run again when an agent that died leaves it in doubt. */
  readonly repeatable: boolean;
  /** Of a question about a duty (`at: duty`) alone; null or left out: of no other step. */
  readonly askAgain?: AskAgain | null;
}

/** When a question about a duty that was answered by "not yet" is asked again. */
export interface AskAgain {
  /** Exit statuses that mean "ask again later", such as 75 (`EX_TEMPFAIL`); every other one but 0 is a failure. */
  readonly exitCodes: readonly number[];
  /** Milliseconds; then it has failed, and the node is untouched. */
  readonly longestWaitMs: number;
}

export type HookStepName = `${HookPoint}:${string}`;

/** Its name among the steps of an attempt: what records, events and people call it. */
export function hookStepName({ at, name }: Pick<VendorHook, 'at' | 'name'>): HookStepName {
  return `${at}:${name}`;
}

/** Characters that the name of any step of an attempt may have: a point, a colon, the 40 of a hook's name, and room for more. */
export const MAX_STEP_NAME = 80;

/** Whether the confirmation of an upgrade runs steps of the vendor, so that the upgrade is not done before it has ended. */
export function confirmationRunsSteps(hooks: readonly Pick<VendorHook, 'at'>[]): boolean {
  return hooks.some(({ at }) => at === 'after_health');
}

/** Where a step's name says that it is a step of the vendor; null for the upgrade's own. */
export function hookPointOf(stepName: string): HookPoint | null {
  return HOOK_POINTS.find((point) => stepName.startsWith(`${point}:`)) ?? null;
}
