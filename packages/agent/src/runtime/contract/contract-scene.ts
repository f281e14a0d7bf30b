import type { RuntimeAdapter } from '../runtime-adapter.ts';
import type { ConformanceService, ContractScene } from './contract-sentence.ts';

const STABLE_MS = 300;

/** The scene of one sentence: a service that nothing was done to yet, its adapter prepared. */
export async function setScene(
  service: ConformanceService,
  adapter: RuntimeAdapter,
  patienceMs: number,
): Promise<ContractScene> {
  let attempts = 0;
  const soon = () => AbortSignal.timeout(2 * patienceMs);
  const newBackupDir = () => `${service.backupDir}-${++attempts}`;
  const acquireOptions: ContractScene['acquireOptions'] = (backupDirs = []) => ({
    signal: soon(),
    backupDirs,
    onProgress: () => undefined,
  });
  const install: ContractScene['install'] = async (behaviour, backupDir = newBackupDir()) => {
    const artifact = await service.offer(behaviour);
    if (!(await adapter.isBackedUp(backupDir))) await adapter.backupState(backupDir, [], soon());
    const handle = await adapter.acquireArtifact(artifact, acquireOptions());
    await adapter.installArtifact(handle, backupDir, soon());
    return artifact;
  };
  await adapter.prepare();
  return {
    service,
    adapter,
    patienceMs,
    soon,
    start: () => adapter.start({ signal: soon(), stableMs: STABLE_MS }),
    install,
    backUp: () => adapter.backupState(service.backupDir, [service.configPath, service.newConfigPath], soon()),
    newBackupDir,
    acquireOptions,
  };
}
