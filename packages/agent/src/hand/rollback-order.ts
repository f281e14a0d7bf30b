import { randomUUID } from 'node:crypto';
import { create, fromJson, toJson } from '@bufbuild/protobuf';
import { ArtifactKind, Operation, type UpgradePayload, UpgradePayloadSchema } from '@hoodcloud/contracts/wire/agent-v1';
import type { Order } from '../upgrade/attempt-operations.ts';
import type { AttemptRecord } from '../upgrade/attempt-record.ts';
import type { Component } from '../upgrade/component.ts';
import { readPayload } from '../upgrade/upgrade-request.ts';
import type { ConfigToPutBack } from './rollback-plan.ts';

/** An operator's order on the host doesn't expire: whatever interrupts it, the next start of the agent goes on with it. */
const NEVER = Date.UTC(9999, 0);

/**
 * The order for an attempt of its own that puts back what was there before another one: the same eight actions, taking
 * binary and configs from the kept backups alone (A12a, A13), so that no network is needed.
 */
export function rollbackOrder(
  component: Component,
  undone: AttemptRecord,
  configs: readonly ConfigToPutBack[],
  now: number,
): Order {
  const { sourceVersion, targetVersion, linkPolicy, budgets } = payloadOf(undone);
  const payload = create(UpgradePayloadSchema, {
    attemptId: attemptIdOf(component.binaryName, now),
    operation: Operation.UPGRADE,
    upgradeId: 'rollback-by-hand',
    binaryName: component.binaryName,
    sourceVersion: targetVersion,
    targetVersion: sourceVersion,
    linkPolicy, // without a release name: back to the place that holds the earlier version
    artifact: {
      kind: component.runtime.artifactKind === 'image' ? ArtifactKind.IMAGE : ArtifactKind.FILE,
      checksum: undone.before.installedChecksum ?? '',
    },
    configFiles: configs.map(({ path, attemptId }) => ({ path, restoreAttemptId: attemptId })),
    ...(budgets && { budgets }),
  });
  return {
    commandId: randomUUID(),
    deadlineAtMs: NEVER,
    request: readPayload(payload),
    payload: toJson(UpgradePayloadSchema, payload),
    component,
    undoes: undone.attemptId,
  };
}

/** The UPGRADE's payload that a record keeps. */
export function payloadOf({ payload }: AttemptRecord): UpgradePayload {
  return fromJson(UpgradePayloadSchema, payload);
}

/** Sorts by time, and never meets an id of the control plane. */
function attemptIdOf(binaryName: string, now: number): string {
  return `by-hand.${binaryName}.${new Date(now).toISOString().replaceAll(/[-:]/g, '').replace('.', '-')}`;
}
