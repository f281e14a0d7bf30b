import { readProperties } from './unit-values.ts';

/** Settings that `systemctl show` prints in the form in which a unit file takes them (systemd.exec(5)). */
const AS_PRINTED = [
  ...['User', 'Group', 'SupplementaryGroups', 'WorkingDirectory', 'RootDirectory', 'RootImage', 'UMask', 'Environment'],
  ...['ProtectSystem', 'ProtectHome', 'ProtectProc', 'ProcSubset', 'ProtectKernelTunables', 'ProtectKernelModules'],
  ...['ProtectKernelLogs', 'ProtectControlGroups', 'ProtectClock', 'ProtectHostname', 'PrivateTmp', 'PrivateDevices'],
  ...['PrivateNetwork', 'PrivateUsers', 'PrivateIPC', 'PrivateMounts', 'NetworkNamespacePath'],
  ...['ReadWritePaths', 'ReadOnlyPaths', 'InaccessiblePaths', 'ExecPaths', 'NoExecPaths', 'TemporaryFileSystem'],
  ...['StateDirectory', 'CacheDirectory', 'LogsDirectory', 'ConfigurationDirectory'],
  ...['NoNewPrivileges', 'AmbientCapabilities', 'CapabilityBoundingSet', 'SecureBits', 'KeyringMode', 'DynamicUser'],
  ...['RestrictAddressFamilies', 'RestrictNamespaces', 'RestrictRealtime', 'RestrictSUIDSGID', 'LockPersonality'],
  ...['MemoryDenyWriteExecute', 'SystemCallFilter', 'SystemCallArchitectures', 'RemoveIPC'],
  ...['Slice', 'MemoryMax', 'MemoryHigh', 'MemorySwapMax', 'TasksMax', 'CPUWeight', 'IOWeight', 'Nice'],
  ...['LimitNOFILE', 'LimitNPROC', 'LimitMEMLOCK', 'LimitCORE', 'LimitAS', 'OOMScoreAdjust'],
] as const;

/**
 * What of a unit a step beside it gets, as asked of `systemctl show`. `RuntimeDirectory` is left out on purpose: systemd
 * removes that folder when the step ends, and the node may be running in it.
 */
export const UNIT_SANDBOX: readonly string[] = [...AS_PRINTED, 'EnvironmentFiles', 'BindPaths', 'BindReadOnlyPaths'];

/**
 * `Setting=value` for all that the unit says otherwise than a unit that says nothing.
 * @param own answer of `systemctl show` for the unit
 * @param unsaid its answer for a unit that isn't there
 */
export function sandboxAssignments(unit: string, own: string, unsaid: string): string[] {
  const [said, defaults] = [readProperties(own), readProperties(unsaid)];
  const differs = (key: string) => (said.get(key) ?? '') !== (defaults.get(key) ?? '');
  const plain = AS_PRINTED.filter(differs).map((key) => `${key}=${said.get(key) ?? ''}`);
  const files = lines(said.get('EnvironmentFiles')).map(environmentFile);
  const binds = ['BindPaths', 'BindReadOnlyPaths'].filter(differs).map((key) => `${key}=${said.get(key) ?? ''}`);
  // a dynamic user has the name of its unit, and the step is to be the same one
  const dynamic = said.get('DynamicUser') === 'yes' && !said.get('User');
  return [...plain, ...files, ...binds, ...(dynamic ? [`User=${unit.replace(/\.service$/, '')}`] : [])];
}

function lines(value = ''): string[] {
  return value.split('\n').filter((line) => line !== '');
}

/** Printed as `/etc/default/node (ignore_errors=yes)`. */
function environmentFile(printed: string): string {
  const [, path = printed, ignored] = /^(.*) \(ignore_errors=(yes|no)\)$/.exec(printed) ?? [];
  return `EnvironmentFile=${ignored === 'yes' ? '-' : ''}${path}`;
}
