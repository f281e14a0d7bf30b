import type { ReasonCode } from './reasons.ts';

/** What a failure tells: about the release, this node, what surrounds both, or the state that an undo left behind. */
export const FAILURE_CLASSES = ['artifact', 'node', 'infrastructure', 'state'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/**
 * What each error of the agent tells. The agent's errors take their codes from here alone, so that none is without a class:
 * `artifact` fails the same way on every host; with `node` this one did not bear the release, or a person is needed there;
 * with `infrastructure` neither is to blame; with `state` nobody may go on before a person has looked.
 */
const AGENT_ERROR_CLASSES = {
  // artifact
  archive_refused: 'artifact',
  archive_unsupported: 'artifact',
  artifact_unavailable: 'artifact',
  bad_public_key: 'artifact',
  checksum_mismatch: 'artifact',
  config_not_written: 'artifact',
  download_refused: 'artifact',
  dry_start_failed: 'artifact',
  image_not_pinned: 'artifact',
  image_unknown: 'artifact',
  invalid_payload: 'artifact',
  member_missing: 'artifact',
  not_executable: 'artifact',
  payload_too_large: 'artifact',
  signature_invalid: 'artifact',
  signature_missing: 'artifact',
  signature_unsupported: 'artifact',
  wrong_platform: 'artifact',
  // node
  agent_not_back: 'node',
  attributes_unsupported: 'node',
  auto_remove: 'node',
  being_removed: 'node',
  changed_meanwhile: 'node',
  config_drift: 'node',
  container_changed: 'node',
  dangling_link: 'node',
  depended_upon: 'node',
  hook_failed: 'node',
  immutable: 'node',
  is_mount_point: 'node',
  link_not_replaced: 'node',
  made_to_fail: 'node',
  managed_elsewhere: 'node',
  neighbour_not_started: 'node',
  path_refused: 'node',
  release_exists: 'node',
  release_has_more: 'node',
  release_in_use: 'node',
  restart_policy_fixed: 'node',
  runtime_mismatch: 'node',
  start_failed: 'node',
  stop_failed: 'node',
  stop_not_safe: 'node',
  stop_overrun: 'node',
  unit_not_supported: 'node',
  volumes_from_gone: 'node',
  writable_layer: 'node',
  wrong_artifact_running: 'node',
  // infrastructure
  action_timeout: 'infrastructure',
  agent_gone: 'infrastructure',
  agent_silent: 'infrastructure',
  already_joined: 'infrastructure',
  already_begun: 'infrastructure',
  already_running: 'infrastructure',
  staging_unavailable: 'infrastructure',
  artifact_missing: 'infrastructure',
  attempt_under_way: 'infrastructure',
  attempt_undone: 'infrastructure',
  backup_corrupt: 'infrastructure',
  backup_failed: 'infrastructure',
  backup_gone: 'infrastructure',
  container_not_found: 'infrastructure',
  credential_unreadable: 'infrastructure',
  disk_full: 'infrastructure',
  download_failed: 'infrastructure',
  engine_forbidden: 'infrastructure',
  engine_refused: 'infrastructure',
  engine_unreachable: 'infrastructure',
  expired: 'infrastructure',
  gateway_unreachable: 'infrastructure',
  hook_interrupted: 'infrastructure',
  still_on_duty: 'infrastructure',
  hook_not_allowed: 'infrastructure',
  hook_still_running: 'infrastructure',
  hooks_not_supported: 'infrastructure',
  host_unsettled: 'infrastructure',
  image_gone: 'infrastructure',
  internal_error: 'infrastructure',
  invalid_config: 'infrastructure',
  io_error: 'infrastructure',
  join_refused: 'infrastructure',
  journal_unreadable: 'infrastructure',
  name_taken: 'infrastructure',
  no_linger: 'infrastructure',
  no_link: 'infrastructure',
  no_log: 'infrastructure',
  no_releases_dir: 'infrastructure',
  not_agreed: 'infrastructure',
  not_completed: 'infrastructure',
  not_joined: 'infrastructure',
  not_settled: 'infrastructure',
  nothing_to_roll_back: 'infrastructure',
  other_file_system: 'infrastructure',
  permission_denied: 'infrastructure',
  read_only: 'infrastructure',
  registry_credentials: 'infrastructure',
  registry_refused: 'infrastructure',
  reload_failed: 'infrastructure',
  rolled_back_already: 'infrastructure',
  self_upgrade_unavailable: 'infrastructure',
  self_upgrade_under_way: 'infrastructure',
  superseded: 'infrastructure',
  supervisor_failed: 'infrastructure',
  systemd_unreachable: 'infrastructure',
  unit_not_loaded: 'infrastructure',
  unknown_attempt: 'infrastructure',
  unknown_component: 'infrastructure',
  unknown_user: 'infrastructure',
  upgrade_open: 'infrastructure',
  // state
  fence_violated: 'state',
  hold_not_visible: 'state',
  restore_failed: 'state',
} as const satisfies Readonly<Record<string, FailureClass>>;
/** Every code that an error of the agent may have. */
export type AgentErrorCode = keyof typeof AGENT_ERROR_CLASSES;

/** Ends that say more than what the agent met on its way there. */
const REASON_CLASSES: Partial<Readonly<Record<ReasonCode, FailureClass>>> = {
  failed_rollback: 'state',
  health_failed: 'node',
  agent_unreachable: 'infrastructure',
  superseded: 'infrastructure',
  internal_error: 'infrastructure',
};

/**
 * The class of a failure, by the reason of the row's status and the agent's error code. A code that nobody knows, of a
 * system call or of a newer agent, counts against the node: then it counts as it always did.
 */
export function failureClassOf(statusReason: string | null, errorCode: string | null): FailureClass {
  const byReason = Object.hasOwn(REASON_CLASSES, statusReason ?? '') && REASON_CLASSES[statusReason as ReasonCode];
  if (byReason) return byReason;
  return isAgentErrorCode(errorCode) ? AGENT_ERROR_CLASSES[errorCode] : 'node';
}

function isAgentErrorCode(code: string | null): code is AgentErrorCode {
  return code !== null && Object.hasOwn(AGENT_ERROR_CLASSES, code);
}

/** How many failures of a class a rollout bears; node failures are the failure threshold's (C5). */
export interface FailureClassLimits {
  readonly artifact: number;
  readonly infrastructure: number;
  readonly state: number;
}
