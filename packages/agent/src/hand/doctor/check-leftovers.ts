import { basename, dirname, join } from 'node:path';
import { followLinks, tempBeside } from '../../host/atomic-file.ts';
import { namesInFolder } from '../../host/read-if-there.ts';
import { stopGuardPath } from '../../runtime/systemd/stop-guard.ts';
import { Systemctl } from '../../runtime/systemd/systemctl.ts';
import { type Check, type ExaminedComponent, type Finding, ok, type Patient, trouble, warning } from './finding.ts';

/** What crashes or people left: holds that belong to nobody, downloads, temporary files, drop-ins, unread records. */
export const checkLeftovers: Check = async (patient) => {
  const found = [
    ...patient.components.flatMap((component) => orphanHold(patient, component)),
    ...(await Promise.all(patient.components.map((component) => leftFiles(patient, component)))).flat(),
    ...(await Promise.all(patient.components.map((component) => leftDropIn(patient, component)))).flat(),
    ...(await strangeRecords(patient)),
  ];
  return found.length > 0
    ? found
    : [ok('leftovers', 'no holds, downloads, temporary files or damaged records lie about')];
};

/** The attempt that may hold a component down or have files lying about; undefined when everything is settled. */
function unsettled({ records }: Patient, { config }: ExaminedComponent) {
  const latest = records.find((record) => record.binaryName === config.binary_name && record.outcome !== 'rolled_back');
  return latest?.outcome === 'completed' ? undefined : latest;
}

function orphanHold(patient: Patient, component: ExaminedComponent): Finding[] {
  const { config, status, adapter } = component;
  if (status?.held !== true) return [];
  const check = `${config.binary_name} hold`;
  const owner = unsettled(patient, component);
  if (owner === undefined) {
    const found = `${adapter.serviceName()} is held down, and no attempt owns the hold: it will not come up by itself`;
    return [
      trouble(check, found, `see that its files are whole, then: hoodcloud-agent start-node ${config.binary_name}`),
    ];
  }
  const { attemptId, outcome } = owner;
  if (outcome === 'failed_rollback') {
    const todo = 'see `hoodcloud-agent history` for the reason, repair it, then: hoodcloud-agent rollback';
    return [trouble(check, `${adapter.serviceName()} is held down: attempt ${attemptId} could not be undone`, todo)];
  }
  const todo = 'a running agent goes on with it; without one: hoodcloud-agent rollback';
  return [warning(check, `${adapter.serviceName()} is held down by attempt ${attemptId}, which is open`, todo)];
}

async function leftFiles(patient: Patient, component: ExaminedComponent): Promise<Finding[]> {
  const { install_path: installPath, binary_name: name } = component.config;
  if (installPath === null || unsettled(patient, component) !== undefined) return [];
  const target = await followLinks(installPath);
  const ours = [`.download-${name}`, basename(tempBeside(target))];
  const left = (await namesInFolder(dirname(target))).filter((file) => ours.some((own) => file.startsWith(own)));
  return left.map((file) => {
    const path = join(dirname(target), file);
    return warning(
      `${name} files`,
      `${path} is left of an earlier upgrade`,
      `the next upgrade uses or replaces it; or: rm ${path}`,
    );
  });
}

/** Harmless, but a stop by the operator can't be ended by force while it lies there. */
async function leftDropIn(patient: Patient, component: ExaminedComponent): Promise<Finding[]> {
  const { runtime, binary_name: name } = component.config;
  if (runtime.type !== 'systemd' || unsettled(patient, component) !== undefined) return [];
  const path = stopGuardPath(runtime.unit, new Systemctl().forUser(runtime.user).scope);
  if (!(await namesInFolder(dirname(path))).includes(basename(path))) return [];
  const found = `${path} is left of an earlier upgrade: until the next one nothing ends a stop of ${runtime.unit} by force`;
  return [warning(`${name} drop-in`, found, `rm ${path}; systemctl daemon-reload`)];
}

async function strangeRecords({ config, unreadableRecords }: Patient): Promise<Finding[]> {
  const folder = join(config.state_dir, 'attempts');
  const aside = (await namesInFolder(folder)).filter((name) => /\.(unreadable|left)-\d+$/.test(name));
  return [
    ...unreadableRecords.map((path) =>
      trouble(
        'records',
        `${path} can't be read`,
        'the next start of the agent sets it aside and puts its attempt back',
      ),
    ),
    ...aside.map((name) =>
      warning('records', `${join(folder, name)} was set aside`, 'keep it for a bug report, or remove it'),
    ),
  ];
}
