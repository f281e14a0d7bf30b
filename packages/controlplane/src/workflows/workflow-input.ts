/** Input of `RolloutWorkflow`; a change of its shape gets the next version. */
export interface RolloutInput {
  readonly version: 1;
  readonly rolloutId: string;
  /** Controls sent by hand that the run before could not store any more. */
  readonly controlsByHand?: readonly { readonly id: string; readonly kind: string }[];
}

/** Input of `UpgradeNodeWorkflow`; a change of its shape gets the next version. */
export interface UpgradeNodeInput {
  readonly version: 1;
  readonly rolloutId: string;
  readonly nodeId: string;
  readonly attempt: number;
}

/** Input of `RolloutGroupWorkflow`; a change of its shape gets the next version. */
export interface RolloutGroupInput {
  readonly version: 1;
  readonly groupId: string;
  /** Controls sent by hand that the run before could not store any more. */
  readonly controlsByHand?: readonly { readonly id: string; readonly kind: string }[];
}

/** What a signal carries that the relay delivers: its row exists. A signal without it was sent by hand (C7a). */
export interface SignalMark {
  readonly stored: true;
}
