import { ArtifactKind, type ComponentReport, RuntimeType } from '@hoodcloud/contracts/wire/agent-v1';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { storableJson, storableText } from '../gateway/storable-json.ts';

const MAX_INT4 = 2_147_483_647;

/** Stored names of runtimes; null is no runtime that a component may have. */
export const RUNTIME_NAMES: Readonly<Record<RuntimeType, 'systemd' | 'docker' | 'process' | null>> = {
  [RuntimeType.UNSPECIFIED]: null,
  [RuntimeType.SYSTEMD]: 'systemd',
  [RuntimeType.DOCKER]: 'docker',
  [RuntimeType.PROCESS]: 'process',
};

const KIND_NAMES: Readonly<Record<ArtifactKind, 'file' | 'image'>> = {
  [ArtifactKind.UNSPECIFIED]: 'file',
  [ArtifactKind.FILE]: 'file',
  [ArtifactKind.IMAGE]: 'image',
};

/** A node and what its agent says of its components. */
export interface NodeComponents {
  readonly nodeId: string;
  readonly components: readonly ComponentReport[];
}

/** Writes what the hosts show now; the last report of a component in the list wins. */
export async function upsertComponents(tx: Db, reports: readonly NodeComponents[]): Promise<void> {
  const latest = new Map<string, ReturnType<typeof componentRow>>();
  for (const { nodeId, components } of reports) {
    for (const component of components) {
      latest.set(`${nodeId} ${component.binaryName}`, componentRow(nodeId, component));
    }
  }
  if (latest.size === 0) return;
  await sql`
    insert into node_components (node_id, binary_name, runtime_type, artifact_kind, active, main_pid,
           main_pid_started_at, restarts, running_checksum, installed_checksum, reported_version, config_checksums)
    select c.* from jsonb_to_recordset(${storableJson([...latest.values()])}::jsonb) as c(node_id uuid,
           binary_name text, runtime_type text, artifact_kind text, active bool, main_pid int,
           main_pid_started_at bigint, restarts int, running_checksum text, installed_checksum text,
           reported_version text, config_checksums jsonb)
     order by c.node_id, c.binary_name
    on conflict (node_id, binary_name) do update set
      runtime_type = excluded.runtime_type, artifact_kind = excluded.artifact_kind, active = excluded.active,
      main_pid = excluded.main_pid, main_pid_started_at = excluded.main_pid_started_at, restarts = excluded.restarts,
      running_checksum = excluded.running_checksum, installed_checksum = excluded.installed_checksum,
      reported_version = excluded.reported_version, config_checksums = excluded.config_checksums,
      updated_at = now()`.execute(tx);
}

/** A component that the agent's own file no longer has is gone (A17: that file is the truth). */
export async function dropMissingComponents(tx: Db, { nodeId, components }: NodeComponents): Promise<void> {
  if (components.length === 0) return;
  const names = components.map((component) => component.binaryName);
  await tx.deleteFrom('node_components').where('node_id', '=', nodeId).where('binary_name', 'not in', names).execute();
}

function componentRow(nodeId: string, report: ComponentReport) {
  return {
    node_id: nodeId,
    binary_name: report.binaryName,
    runtime_type: RUNTIME_NAMES[report.runtimeType],
    artifact_kind: KIND_NAMES[report.artifactKind],
    active: report.active,
    main_pid: report.mainPid === 0 ? null : Math.min(report.mainPid, MAX_INT4),
    main_pid_started_at:
      report.mainPid === 0 ? null : Math.min(Number(report.mainPidStartedAt), Number.MAX_SAFE_INTEGER),
    restarts: Math.min(report.restarts, MAX_INT4),
    running_checksum: report.runningChecksum || null,
    installed_checksum: report.installedChecksum || null,
    reported_version: storableText(report.reportedVersion, 50) || null,
    config_checksums: report.configChecksums,
  };
}
