/** Workflow ids of the specification; one run at a time each, which makes a second start harmless. */
export function rolloutWorkflowId(rolloutId: string): string {
  return `rollout-${rolloutId}`;
}

export function nodeWorkflowId(rolloutId: string, nodeId: string): string {
  return `upgrade-${rolloutId}-${nodeId}`;
}

export function groupWorkflowId(groupId: string): string {
  return `rollout-group-${groupId}`;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** The rollout and node that a node workflow's id names; null for another id. */
export function parseNodeWorkflowId(workflowId: string): { rolloutId: string; nodeId: string } | null {
  const match = new RegExp(`^upgrade-(${UUID})-(${UUID})$`).exec(workflowId);
  return match?.[1] && match[2] ? { rolloutId: match[1], nodeId: match[2] } : null;
}

/** The rollout that a rollout workflow's id names; null for another id. */
export function parseRolloutWorkflowId(workflowId: string): string | null {
  return new RegExp(`^rollout-(${UUID})$`).exec(workflowId)?.[1] ?? null;
}

/** The group that a group workflow's id names; null for another id. */
export function parseGroupWorkflowId(workflowId: string): string | null {
  return new RegExp(`^rollout-group-(${UUID})$`).exec(workflowId)?.[1] ?? null;
}
