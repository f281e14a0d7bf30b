/** A share as two whole numbers, so that "reaches a third" is never a question of rounding. */
export interface ExactShare {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** What a chain's profile says of its quorum. */
export interface QuorumRule {
  /** The share of the voting power that is down must stay below this. */
  readonly limit: ExactShare;
  /** Node types whose nodes vote: one of them without a known power is dangerous, another one is not. */
  readonly nodeTypes: readonly string[];
}

/** The voting power of a chain at the moment of the question. */
export interface QuorumFacts extends QuorumRule {
  readonly chain: string;
  /** Of the whole chain, other people's validators included; null: nobody has told any power. */
  readonly total: bigint | null;
  /** What this fleet's unavailable nodes hold of it, this rollout's nodes in flight included. */
  readonly down: bigint;
  /** Names of the nodes that hold it. */
  readonly names: readonly string[];
  /** Names of unavailable voting nodes whose power nobody knows. */
  readonly unknown: readonly string[];
}

/** Whether so much down leaves the chain its quorum: the share must stay below the limit, and not reach it. */
export function staysBelow(down: bigint, total: bigint, { numerator, denominator }: ExactShare): boolean {
  return down * denominator < numerator * total;
}

/** A share for people, rounded up to a hundredth so that it never looks smaller than it is, such as `0.34`. */
export function shareText(part: bigint, total: bigint): string {
  const hundredths = total === 0n ? 0n : (part * 100n + total - 1n) / total;
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

/** `1/3`; null when the text is no share between 0 and 1. */
export function parseShare(text: string): ExactShare | null {
  const [, numerator = '', denominator = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (denominator === '') return null;
  const share = { numerator: BigInt(numerator), denominator: BigInt(denominator) };
  return share.numerator > 0n && share.numerator <= share.denominator ? share : null;
}
