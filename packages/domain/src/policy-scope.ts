/** Which nodes a policy is for; what is left out narrows nothing, so an empty scope is the whole fleet. */
export interface PolicyScope {
  /** Chains, by `chain_profile_id`. */
  readonly chains?: readonly string[] | undefined;
  readonly node_types?: readonly string[] | undefined;
  /** Every label must have this value, or one of these. */
  readonly labels?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** What a scope asks of a node. */
export interface ScopedNode {
  readonly chainProfileId: string;
  readonly nodeType: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a policy is for a node. */
export function covers(scope: PolicyScope, node: ScopedNode): boolean {
  if (scope.chains !== undefined && !scope.chains.includes(node.chainProfileId)) return false;
  if (scope.node_types !== undefined && !scope.node_types.includes(node.nodeType)) return false;
  return Object.entries(scope.labels ?? {}).every(([label, wanted]) => {
    const value = node.labels[label];
    return value !== undefined && (typeof wanted === 'string' ? value === wanted : wanted.includes(value));
  });
}
