import type { AcceptedDraft } from '../rollouts/create-rollout.ts';

/**
 * One entry of `rollout_groups.component_order`: what the component becomes, as manifest and templates said when the group
 * was created. Its rollout is made from this alone when its turn comes (C2, E3).
 */
export interface StoredComponent {
  readonly component_index: number;
  readonly binary_name: string;
  readonly draft: AcceptedDraft;
}

/** Reads the column. */
export function storedComponents(column: unknown): readonly StoredComponent[] {
  return column as readonly StoredComponent[];
}
