import { create, type Message } from '@bufbuild/protobuf';
import type { ChainRuntime } from '@hoodcloud/contracts/files/chain-profile';
import {
  type Activation,
  ArtifactKind,
  BudgetsSchema,
  DriftPolicy,
  HookPoint,
  HookSchema,
  LinkPolicy,
  Operation,
  SignatureFormat,
  SignaturePolicySchema,
  type UpgradePayload,
  UpgradePayloadSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { encodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { type ActionBudgets, scheduleToCloseMs } from '@hoodcloud/domain/activity-budget';
import type { AgentOperation, StagingOperation } from '@hoodcloud/domain/agent-operation';
import { DomainError } from '@hoodcloud/domain/errors';
import type { ArtifactSignature, TargetArtifact } from '@hoodcloud/domain/target-artifact';
import { confirmationRunsSteps, type VendorHook } from '@hoodcloud/domain/vendor-hook';
import { dryStartOf, signaturesOf } from './chain-start.ts';
import type { CommandConfig } from './rollback-configs.ts';
import { storedHooks } from './rollout-hooks.ts';
import type { RolloutNodeRow, RolloutRow } from './rollout-row.ts';
import { targetArtifacts } from './target-artifacts.ts';

const OPERATION_ON_WIRE: Readonly<Record<AgentOperation | StagingOperation, Operation>> = {
  UPGRADE: Operation.UPGRADE,
  COMPENSATE: Operation.COMPENSATE,
  CONFIRM: Operation.CONFIRM,
  STAGE: Operation.STAGE,
  UNSTAGE: Operation.UNSTAGE,
};

const SIGNATURE_FORMATS: Readonly<Record<ArtifactSignature['format'], SignatureFormat>> = {
  minisign: SignatureFormat.MINISIGN,
  cosign_bundle: SignatureFormat.COSIGN_BUNDLE,
};

/** Nobody waits for a confirmation, or for what was staged to be removed, so an agent may be away for a day (B2). */
export const CONFIRM_WITHIN_MS = 24 * 3_600_000;

/** The way back is not known: the node's version was never recorded. */
export class NoPreviousVersionError extends DomainError {
  constructor(nodeId: string) {
    super(
      'no_previous_version',
      `No previous version of node ${nodeId} is recorded, so there is nothing to go back to: upgrade it to a version that you name instead.`,
      { nodeId },
    );
  }
}

/** This chain's action budgets in milliseconds where they differ from the specification's. */
export function budgetsOf(runtime: ChainRuntime | null): Partial<ActionBudgets> {
  const seconds = runtime?.budgets ?? {};
  const pairs: [keyof ActionBudgets, number | undefined][] = [
    ['backup_state', seconds.backup_seconds],
    ['acquire_artifact', seconds.acquire_seconds],
    ['verify_artifact', seconds.verify_seconds],
    ['stop_node', seconds.stop_seconds],
    ['install_artifact', seconds.install_seconds],
    ['write_configs', seconds.configs_seconds],
    ['reload_daemon', seconds.reload_seconds],
    ['start_node', seconds.start_seconds],
  ];
  return Object.fromEntries(pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value * 1000]])));
}

/** How long a command may take from now (B5). */
export function commandBudgetMs(
  operation: AgentOperation | StagingOperation,
  runtime: ChainRuntime | null,
  hooks: readonly VendorHook[],
): number {
  const isShort = operation === 'UNSTAGE' || (operation === 'CONFIRM' && !confirmationRunsSteps(hooks));
  if (isShort) return CONFIRM_WITHIN_MS;
  return scheduleToCloseMs(budgetsOf(runtime), hooks);
}

/** What is to run on a node after an attempt: the target, or what was there before for a rollback. */
export interface WantedVersion extends TargetArtifact {
  readonly version: string;
  /** Of the member, when this node had it before; null: unknown, or the checksum itself says it (A6). */
  readonly installedChecksum: string | null;
}

/**
 * The version an attempt leads to.
 * @throws NoPreviousVersionError for a rollback of a node whose version was never recorded
 */
export function wantedVersion(rollout: RolloutRow, row: RolloutNodeRow): WantedVersion {
  if (row.attempt_direction === 'upgrade') {
    const artifact = chosenArtifact(rollout, row);
    const same = row.previous_checksum === artifact.checksum && row.previous_artifact_member === artifact.member;
    const installedChecksum = same && artifact.member !== null ? row.previous_installed_checksum : null;
    return { version: rollout.target_version, ...artifact, installedChecksum };
  }
  const checksum = row.previous_checksum ?? row.previous_installed_checksum;
  if (checksum === null) throw new NoPreviousVersionError(row.node_id);
  // Without a URL the agent finds the checksum among its kept backups (A12a).
  return {
    version: row.previous_version ?? 'unknown',
    url: row.previous_binary_url ?? '',
    checksum,
    member: row.previous_artifact_member,
    signature: null,
    installedChecksum: row.previous_artifact_member === null ? null : row.previous_installed_checksum,
  };
}

/** What the attempt was given at its beginning; one for all nodes where the rollout has only that. */
function chosenArtifact(rollout: RolloutRow, row: RolloutNodeRow): TargetArtifact {
  if (row.target_artifact !== null) return row.target_artifact as unknown as TargetArtifact;
  const targets = targetArtifacts(rollout);
  if (targets.kind === 'one') return targets.artifact;
  throw new Error(`attempt ${row.attempt_count} of node ${row.node_id} began without an artifact`);
}

/** Serializes what travels to the agent: references and rendered content, no instructions (B1). */
export function upgradePayload(input: {
  readonly attemptId: string;
  readonly operation: AgentOperation | StagingOperation;
  readonly rollout: RolloutRow;
  readonly row: RolloutNodeRow;
  readonly runtime: ChainRuntime | null;
  readonly stableMs: number | null;
  readonly configs: readonly CommandConfig[];
  /** path → `sha256:<hex>` last written by us (E4). */
  readonly lastWritten: Readonly<Record<string, string>>;
  /** Of a STAGE: when the agent swaps by itself. */
  readonly activation?: Omit<Activation, keyof Message>;
}): Buffer {
  const { rollout, row } = input;
  const wanted = wantedVersion(rollout, row);
  const dryStart = dryStartOf(input.runtime, rollout.binary_name);
  const source = row.attempt_direction === 'upgrade' ? row.previous_version : rollout.target_version;
  const payload: UpgradePayload = create(UpgradePayloadSchema, {
    attemptId: input.attemptId,
    operation: OPERATION_ON_WIRE[input.operation],
    upgradeId: rollout.upgrade_id ?? `manual-${rollout.target_version}`,
    binaryName: rollout.binary_name,
    sourceVersion: source ?? 'unknown',
    targetVersion: wanted.version,
    artifact: {
      kind: rollout.artifact_kind === 'image' ? ArtifactKind.IMAGE : ArtifactKind.FILE,
      url: wanted.url,
      checksum: wanted.checksum,
      member: wanted.member ?? '',
      installedChecksum: wanted.installedChecksum ?? '',
      ...(wanted.signature && {
        signature: { format: SIGNATURE_FORMATS[wanted.signature.format], url: wanted.signature.url },
      }),
    },
    signaturePolicy: wireSignatures(input.runtime, rollout.binary_name),
    ...(dryStart && { dryStart: { args: [...dryStart.args], timeoutMs: dryStart.timeoutMs } }),
    configFiles: input.configs.map((config) => ({
      ...config,
      lastWrittenChecksum: input.lastWritten[config.path] ?? '',
    })),
    linkPolicy: rollout.link_policy === 'replace' ? LinkPolicy.REPLACE : LinkPolicy.FOLLOW,
    // the way back leads to the place that holds the earlier version, whatever its name
    releaseName: row.attempt_direction === 'upgrade' ? (rollout.release_name ?? '') : '',
    driftPolicy: rollout.drift_policy === 'overwrite' ? DriftPolicy.OVERWRITE : DriftPolicy.FAIL,
    showDrift: input.runtime?.show_config_drift === 'diff',
    budgets: wireBudgets(input.runtime, input.stableMs),
    hooks: wireHooks(rollout, row),
    ...(input.activation && { activation: input.activation }),
  });
  return encodeUpgradePayload(payload);
}

function wireSignatures(runtime: ChainRuntime | null, binaryName: string) {
  const { required, publicKeys } = signaturesOf(runtime, binaryName);
  return create(SignaturePolicySchema, { required, publicKeys: [...publicKeys] });
}

const HOOK_POINTS: Readonly<Record<VendorHook['at'], HookPoint>> = {
  before_stop: HookPoint.BEFORE_STOP,
  after_install: HookPoint.AFTER_INSTALL,
  duty: HookPoint.DUTY,
  after_health: HookPoint.AFTER_HEALTH,
  on_error: HookPoint.ON_ERROR,
};

/** Of the way to the new version only: a rollback installs what the steps were not written for. */
function wireHooks(rollout: RolloutRow, row: RolloutNodeRow) {
  if (row.attempt_direction !== 'upgrade') return [];
  return storedHooks(rollout).map(({ at, command, undo, askAgain, ...hook }) =>
    create(HookSchema, {
      ...hook,
      point: HOOK_POINTS[at],
      command: [...command],
      undo: [...(undo ?? [])],
      ...(askAgain && { askAgain: { ...askAgain, exitCodes: [...askAgain.exitCodes] } }),
    }),
  );
}

/** 0 means the action's default. */
function wireBudgets(runtime: ChainRuntime | null, stableMs: number | null) {
  const budgets = budgetsOf(runtime);
  return create(BudgetsSchema, {
    backupMs: budgets.backup_state ?? 0,
    acquireMs: budgets.acquire_artifact ?? 0,
    verifyMs: budgets.verify_artifact ?? 0,
    stopMs: budgets.stop_node ?? 0,
    installMs: budgets.install_artifact ?? 0,
    configsMs: budgets.write_configs ?? 0,
    reloadMs: budgets.reload_daemon ?? 0,
    startMs: budgets.start_node ?? 0,
    // a chain that asks for no time at all must not get the default for it
    stableMs: stableMs === null ? 0 : Math.max(1, stableMs),
    toleratedRestarts: runtime?.budgets.tolerated_restarts ?? 0,
  });
}
