import { basename } from 'node:path';
import { backupRoot, listBackups, neededBackups } from '../../upgrade/backup-retention.ts';
import { type Check, type ExaminedComponent, type Finding, ok, type Patient, trouble, warning } from './finding.ts';

/** Whether every kept backup is whole by its checksums, and those that a way back needs are there. */
export const checkBackups: Check = async (patient) =>
  (await Promise.all(patient.components.map((component) => backupsOf(patient, component)))).flat();

async function backupsOf({ records }: Patient, { config, adapter }: ExaminedComponent): Promise<Finding[]> {
  const check = `${config.binary_name} backups`;
  const own = records.filter(({ binaryName }) => binaryName === config.binary_name);
  const needed = new Set(neededBackups(own));
  const dirs = await listBackups(backupRoot(config.data_dir));
  const whole = new Set<string>();
  for (const dir of dirs) if (await adapter.isBackedUp(dir)) whole.add(basename(dir));
  const findings = dirs
    .map((dir) => basename(dir))
    .filter((name) => !whole.has(name) && !needed.has(name))
    .map((name) =>
      warning(check, `the backup of attempt ${name} is not whole`, 'nothing: it is not needed, and removed with age'),
    );
  for (const name of needed) {
    const begun = own
      .find(({ attemptId }) => attemptId === name)
      ?.progress.steps.some((step) => step.name === 'stop_node');
    if (whole.has(name) || begun !== true) continue; // one that never came to its stop needs no way back
    const todo = 'nothing can be put back from it: to go back, upgrade to the version that you want';
    findings.push(trouble(check, `the backup of attempt ${name}, which a way back needs, is gone or not whole`, todo));
  }
  return findings.length > 0 ? findings : [ok(check, `${whole.size} kept, all whole`)];
}
