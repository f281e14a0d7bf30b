import { bareSha256 } from './checksum.ts';
import { isoTime } from './iso-time.ts';
import { type NodePin, pinnedReason } from './node-hold.ts';
import type { NodeState } from './node-state.ts';
import { type Reason, reason } from './reasons.ts';

/** An attempt that ended badly: rolled back by the agent, or failed. */
export interface FailedVersion {
  readonly rolloutId: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Path of a config file to the SHA-256 of its content. */
export type ConfigHashes = Readonly<Record<string, string>>;

/** One component of a node as its agent reports it (A17). */
export interface ComponentFacts {
  /** `systemd`, `docker`, `process` or a later one; compared, never interpreted. */
  readonly runtimeType: string;
  /** SHA-256 of the running executable or the image's digest, `sha256:` prefix allowed; null when nothing runs. */
  readonly runningDigest: string | null;
  /** Hashes of the config files now on the host, as far as known. */
  readonly configHashes: ConfigHashes;
}

export interface NodeEligibilityFacts {
  readonly nodeId: string;
  readonly nodeType: string;
  readonly state: NodeState;
  /** Rollout or person that holds the node in `maintenance` (D5); null when nobody does. */
  readonly maintenanceOwner: string | null;
  /** An agent has joined for the node. */
  readonly joined: boolean;
  readonly online: boolean;
  /** Epoch milliseconds by the server's clock. */
  readonly lastHeartbeatAt: number | null;
  readonly quarantined: boolean;
  /** `linux/amd64`, as the agent reports it; null when it never did. */
  readonly platform: string | null;
  /** The component that the rollout's `binary_name` names; null when the node has none. */
  readonly component: ComponentFacts | null;
  /** An earlier component of the rollout's group that failed on this node; null or left out: none did. */
  readonly failedBefore?: string | null;
  /** How the latest upgrade of the component to the target version, in another rollout, failed; null or left out: it did not. */
  readonly failedVersion?: FailedVersion | null;
  /** What a person pinned the component with; null or left out: nobody did. */
  readonly pin?: NodePin | null;
}

export interface RolloutTargetFacts {
  readonly rolloutId: string;
  /** Node type the rollout is for; null: any. */
  readonly nodeType: string | null;
  readonly binaryName: string;
  readonly targetVersion: string;
  /** Epoch milliseconds at which it is judged. */
  readonly now: number;
  /** Runtime that the chain's files give for the component; null when they say nothing. */
  readonly runtimeType: string | null;
  /** Digests by which the running target is known: the checksum, and for an archive the member's (A6). */
  readonly targetDigests: readonly string[];
  /** Platforms that there are artifacts for; null: one artifact is for all. */
  readonly platforms: readonly string[] | null;
  /** Hashes of the config files as they would be rendered for this node; empty without config changes. */
  readonly targetConfigHashes: ConfigHashes;
  readonly offlinePolicy: 'skip' | 'wait';
  /** A person asked that nodes that failed the version are offered it again. */
  readonly retryFailed: boolean;
}

export type Eligibility = { readonly kind: 'eligible' } | { readonly kind: 'skipped'; readonly reason: Reason };

/** States in which a node can be upgraded: it runs, well or badly, and a person has not given it up. */
const ELIGIBLE_STATES: readonly NodeState[] = ['syncing', 'healthy', 'degraded', 'down'];

/** Whether the node runs the target with the target's configs: hashes, not version strings, say so (E6, A6). */
export function isAtTarget(component: ComponentFacts, target: RolloutTargetFacts): boolean {
  const running = component.runningDigest;
  if (running === null || !target.targetDigests.some((digest) => bareSha256(digest) === bareSha256(running)))
    return false;
  return Object.entries(target.targetConfigHashes).every(([path, hash]) => {
    const actual = component.configHashes[path];
    return actual !== undefined && bareSha256(actual) === bareSha256(hash);
  });
}

function isFreeState(node: NodeEligibilityFacts, rolloutId: string): boolean {
  if (ELIGIBLE_STATES.includes(node.state)) return true;
  return node.state === 'maintenance' && node.maintenanceOwner === rolloutId;
}

function whySkipped(node: NodeEligibilityFacts, target: RolloutTargetFacts): Reason | null {
  const { nodeId, component, nodeType } = node;
  if (target.nodeType !== null && nodeType !== target.nodeType) {
    return reason('node_type_mismatch', { actual: nodeType, wanted: target.nodeType });
  }
  if (!node.joined) return reason('never_joined');
  if (!isFreeState(node, target.rolloutId)) return reason('node_ineligible', { state: node.state });
  if (node.quarantined) return reason('node_quarantined', { node: nodeId });
  if (component === null) return reason('binary_missing', { binary: target.binaryName });
  if (target.runtimeType !== null && component.runtimeType !== target.runtimeType) {
    const { runtimeType: actual } = component;
    return reason('runtime_mismatch', { binary: target.binaryName, actual, wanted: target.runtimeType });
  }
  if (target.platforms !== null && (node.platform === null || !target.platforms.includes(node.platform))) {
    const known = target.platforms.join(', ');
    return reason('no_artifact_for_platform', { platform: node.platform ?? 'an unknown platform', known });
  }
  if (isAtTarget(component, target)) return reason('already_at_target');
  const pinned = pinnedReason(node.pin, target.targetVersion, target.now);
  if (pinned) return pinned;
  if (node.failedBefore) return reason('earlier_component_failed', { binary: node.failedBefore });
  if (node.failedVersion && !target.retryFailed) {
    const { rolloutId, at } = node.failedVersion;
    return reason('failed_this_version', { version: target.targetVersion, rollout: rolloutId, at: isoTime(at) });
  }
  if (!node.online && target.offlinePolicy === 'skip') {
    const since = node.lastHeartbeatAt;
    return reason('agent_offline', { node: nodeId, since: since === null ? 'ever' : isoTime(since) });
  }
  return null;
}

/**
 * Whether a rollout may change the node, with the reason when not. Asked when the targets are resolved and again by the
 * node's pre-check at its turn, when much may have changed. What cannot change by waiting comes first.
 */
export function judgeEligibility(node: NodeEligibilityFacts, target: RolloutTargetFacts): Eligibility {
  const why = whySkipped(node, target);
  return why === null ? { kind: 'eligible' } : { kind: 'skipped', reason: why };
}
