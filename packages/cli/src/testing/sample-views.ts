import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { SavedPlanDetail } from '@hoodcloud/contracts/http/rollout-plans';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { REASONS, type ReasonCode, reason, sentenceOf } from '@hoodcloud/domain/reasons';

export const ROLLOUT_ID = '11111111-1111-4111-8111-111111111111';
const NODE_ID = '22222222-2222-4222-8222-222222222222';
const NOW = '2026-01-01T00:00:00Z';

/** A reason as the API shows it. */
export function reasonView(code: ReasonCode, params: Record<string, string | number> = {}) {
  return { code, params, severity: REASONS[code].severity, sentence: sentenceOf(reason(code, params)) };
}

export function rolloutView(differs: Partial<RolloutDetail> = {}): RolloutDetail {
  return {
    id: ROLLOUT_ID,
    name: null,
    group_id: null,
    component_index: 0,
    chain_profile_id: 'demo',
    node_type: 'validator',
    upgrade_id: 'v2',
    binary_name: 'noded',
    source_version: null,
    target_version: 'v2',
    artifact_kind: 'file',
    target_binary_url: 'http://releases.test/noded',
    target_binary_checksum: `sha256:${'a'.repeat(64)}`,
    artifacts: null,
    strategy: 'canary',
    batch_size: 1,
    canary_size: 1,
    batch_order: null,
    failure_threshold: 0,
    max_failures: null,
    min_attempted: 1,
    max_in_flight: null,
    failure_classes: null,
    health_wait_ms: 10_000,
    force_continue: false,
    skip_validation: false,
    offline_policy: 'skip',
    retry_failed: false,
    late_nodes: 'ignore',
    start_at_height: null,
    start_at: null,
    windows: null,
    stage: false,
    activation: 'rollout',
    drift_policy: 'fail',
    migration_type: 'compatible',
    recovery_plan: null,
    two_person_approval: false,
    start_approval: false,
    acknowledge_state_risk: false,
    manifest_content_hash: `sha256:${'b'.repeat(64)}`,
    status: 'running',
    status_reason: null,
    status_changed_at: NOW,
    direction: 'upgrade',
    total_nodes: 4,
    succeeded_nodes: 1,
    failed_nodes: 0,
    pending_nodes: 3,
    skipped_nodes: 0,
    waiting: null,
    created_by: 'key:demo',
    created_at: NOW,
    started_at: NOW,
    ended_at: null,
    why: [reasonView('nodes_in_flight', { count: 1, batch: 0 })],
    in_flight_nodes: 0,
    attempted_nodes: 0,
    counted_failures: 0,
    threshold_ignored: false,
    legal_controls: ['pause', 'cancel'],
    manifest_drift: 'unchanged',
    ...differs,
  };
}

export function rolloutNodeView(differs: Partial<RolloutNodeView> = {}): RolloutNodeView {
  return {
    rollout_id: ROLLOUT_ID,
    node_id: NODE_ID,
    node_name: 'validator-1',
    node_state: 'healthy',
    online: true,
    height: 7,
    batch_index: 0,
    late: false,
    status: 'pending',
    status_reason: null,
    upgrade_phase: null,
    phase_changed_at: null,
    attempt_count: 0,
    attempt_direction: 'upgrade',
    previous_version: 'v1',
    previous_binary_url: null,
    previous_checksum: null,
    installed_checksum: null,
    running_checksum: null,
    current_checksum: null,
    command: null,
    staged: null,
    health_reasons: [],
    why: [reasonView('batch_started', { batch: 0 })],
    error_message: null,
    failure_class: null,
    late_result: null,
    left_stopped: false,
    started_at: null,
    ended_at: null,
    duration_ms: null,
    downtime_ms: null,
    ...differs,
  };
}

export function planView(differs: Partial<RolloutPlanView> = {}): RolloutPlanView {
  return {
    chain_profile_id: 'demo',
    binary_name: 'noded',
    target_version: 'v2',
    target_binary_url: 'http://releases.test/noded',
    target_binary_checksum: `sha256:${'a'.repeat(64)}`,
    artifacts: null,
    migration_type: 'compatible',
    rollback_tier: 2,
    manifest_content_hash: `sha256:${'b'.repeat(64)}`,
    config_paths: [],
    config_diffs: [],
    artifact_checks: [],
    estimate: { past_upgrades: 0, node_ms: null, downtime_ms: null, rollout_ms: null },
    shares: [],
    schedule: { first_start_at: '2026-01-01T00:00:00.000Z', holds: [] },
    batches: [
      {
        index: 0,
        canary: true,
        of: null,
        nodes: [{ node_id: NODE_ID, node_name: 'validator-1', source_version: 'v1', online: true }],
      },
    ],
    ineligible: [],
    sources: [{ version: 'v1', nodes: 1 }],
    failures_allowed: 0,
    warnings: [],
    violations: [],
    ...differs,
  };
}

export function savedPlanView(differs: Partial<SavedPlanDetail> = {}): SavedPlanDetail {
  return {
    id: ROLLOUT_ID,
    state: 'saved',
    chain_profile_id: 'demo',
    node_type: 'validator',
    binary_name: 'noded',
    target_version: 'v2',
    strategy: 'canary',
    nodes: 1,
    saved_by: 'user:alice',
    reason: null,
    created_at: NOW,
    expires_at: '2026-01-02T00:00:00Z',
    started_by: null,
    started_at: null,
    rollout_id: null,
    plan: planView(),
    differences: [],
    ...differs,
  };
}
