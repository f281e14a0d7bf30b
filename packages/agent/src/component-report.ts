import type { MessageInitShape } from '@bufbuild/protobuf';
import { ArtifactKind, type ComponentReportSchema, RuntimeType } from '@hoodcloud/contracts/wire/agent-v1';
import { describeError } from './agent-error.ts';
import { type Scrape, scrapeMetrics } from './metrics-scrape.ts';
import type { RuntimeAdapter } from './runtime/runtime-adapter.ts';
import { checksumsOf } from './upgrade/attempt-result.ts';

const RUNTIME_TYPES: Readonly<Record<RuntimeAdapter['runtimeType'], RuntimeType>> = {
  systemd: RuntimeType.SYSTEMD,
  docker: RuntimeType.DOCKER,
  process: RuntimeType.PROCESS,
};

export interface ReportedComponent {
  readonly binaryName: string;
  readonly runtime: RuntimeAdapter;
  readonly metricsUrl: string | null;
}

/** One component as the host shows it now, with the metrics that the session asked for (D0a). */
export async function reportOn(
  { binaryName, runtime, metricsUrl }: ReportedComponent,
  metricNames: readonly string[],
  configPaths: readonly string[],
): Promise<MessageInitShape<typeof ComponentReportSchema>> {
  const [status, metrics, configChecksums] = await Promise.all([
    runtime.status(),
    scrape(metricsUrl, metricNames),
    checksumsOf(runtime, configPaths),
  ]);
  return {
    binaryName,
    runtimeType: RUNTIME_TYPES[runtime.runtimeType],
    artifactKind: runtime.artifactKind === 'image' ? ArtifactKind.IMAGE : ArtifactKind.FILE,
    active: status.state === 'running',
    mainPid: status.mainPid ?? 0,
    mainPidStartedAt: BigInt(status.mainPidStartedAt ?? 0),
    restarts: status.restarts,
    runningChecksum: status.runningChecksum ?? '',
    installedChecksum: status.installedChecksum ?? '',
    metrics: metrics.samples.map((sample) => ({ ...sample })),
    metricsError: metrics.error,
    configChecksums,
  };
}

/** A component that can't even be looked at is reported as not running: unknown never counts as healthy (D3). */
export function reportOnTrouble(
  { binaryName, runtime }: ReportedComponent,
  error: unknown,
): MessageInitShape<typeof ComponentReportSchema> {
  return {
    binaryName,
    runtimeType: RUNTIME_TYPES[runtime.runtimeType],
    artifactKind: runtime.artifactKind === 'image' ? ArtifactKind.IMAGE : ArtifactKind.FILE,
    active: false,
    metricsError: `the component can't be looked at: ${describeError(error).message}`,
  };
}

async function scrape(url: string | null, names: readonly string[]): Promise<Scrape> {
  if (url !== null) return scrapeMetrics(url, names);
  const error = names.length === 0 ? '' : "the agent's configuration gives no metrics_url for this component";
  return { samples: [], error };
}
