import type { AttemptRecord } from '../upgrade/attempt-record.ts';
import { backupDirOf } from '../upgrade/attempt-run.ts';
import type { Component } from '../upgrade/component.ts';
import { payloadOf } from './rollback-order.ts';
import type { RollbackPlan } from './rollback-plan.ts';
import { versionNames } from './version-names.ts';

/** What a rollback would do, for a person to agree to. */
export interface RollbackPreview {
  readonly binary_name: string;
  readonly service: string;
  readonly kind: RollbackPlan['kind'];
  /** The attempt that is taken back, or that is finished. */
  readonly attempt_id: string;
  readonly began_at: string;
  readonly confirmed: boolean;
  readonly from: Version;
  readonly to: Version;
  readonly backup: string;
  /** What will be done, in its order. */
  readonly steps: readonly string[];
}

export interface Version {
  /** Null when nobody named it. */
  readonly version: string | null;
  readonly checksum: string | null;
}

/** Says in sentences what a plan does on this host. */
export async function describeRollback(
  plan: RollbackPlan,
  component: Component,
  records: readonly AttemptRecord[],
): Promise<RollbackPreview> {
  const { record } = plan;
  const { installedChecksum, wantedRunning } = await component.runtime.status();
  const names = versionNames(records);
  const version = (checksum: string | null): Version => ({ checksum, version: names.get(checksum ?? '') ?? null });
  const target = plan.kind === 'finish' ? payloadOf(record).artifact?.checksum : record.before.installedChecksum;
  const configs = configPaths(plan);
  const willRun = plan.kind === 'go_back' ? wantedRunning : record.before.wantedRunning;
  const service = component.runtime.serviceName();
  return {
    binary_name: component.binaryName,
    service,
    kind: plan.kind,
    attempt_id: record.attemptId,
    began_at: new Date(record.createdAtMs).toISOString(),
    confirmed: record.confirmed,
    from: version(installedChecksum),
    to: version(target ?? null),
    backup: backupDirOf(component, record.attemptId),
    steps: [
      ...(plan.kind === 'go_back' ? [`back up what is there now, so that this too can be undone`] : []),
      `stop ${service} and wait until it has ended by itself: nothing kills it`,
      `put ${component.binaryName} back as it was before the attempt`,
      ...configs.map((path) => `put ${path} back as it was; remove it when it was not there`),
      willRun ? `start ${service} and watch that it stays up` : `leave ${service} stopped, as its operator had it`,
    ],
  };
}

function configPaths(plan: RollbackPlan): string[] {
  if (plan.kind === 'go_back') return plan.configs.map(({ path }) => path);
  return payloadOf(plan.record).configFiles.map(({ path }) => path);
}
