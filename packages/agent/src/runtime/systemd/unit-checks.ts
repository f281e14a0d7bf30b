import { dirname } from 'node:path';
import type { UnitSettings } from './unit-settings.ts';

/** Why a unit can't be upgraded by the agent at all, as the end of a sentence; undefined when it can. */
export function refusalOf(unit: UnitSettings): string | undefined {
  if (unit.type === 'oneshot')
    return 'a oneshot unit (Type=oneshot) has no process that stays, so no start can be judged';
  if (unit.remainsAfterExit) return 'under RemainAfterExit=yes a node that crashed would count as running';
  if (unit.transient) return 'it is transient (systemd-run): systemd forgets it when it stops; write a unit file';
  if (unit.refusesManualStop) return 'RefuseManualStop=yes forbids the stop';
  if (unit.refusesManualStart) return 'RefuseManualStart=yes forbids the start';
  return undefined;
}

/** What about the unit's set-up may surprise an upgrade, each a sentence for the operator. */
export function warningsOf(unit: string, settings: UnitSettings, installPath: string): string[] {
  const { startPre, onFailure, onSuccess, killMode, drastic, stoppedWithIt, triggeredBy } = settings;
  const found: (string | false)[] = [
    mentions(startPre, installPath) &&
      `ExecStartPre= of ${unit} names ${installPath}: if it writes there, the next start brings another version back`,
    FETCHES.test(startPre) &&
      `ExecStartPre= of ${unit} downloads or installs something: the next start may bring another version back`,
    onFailure.length > 0 && `${onFailure.join(', ')} starts when a new version of ${unit} crashes (OnFailure=)`,
    onSuccess.length > 0 && `${onSuccess.join(', ')} starts at each stop of ${unit} (OnSuccess=)`,
    ['process', 'none'].includes(killMode) &&
      `KillMode=${killMode} of ${unit} lets processes outlive its stop; while one does, no start is made`,
    drastic.length > 0 && `${drastic.join(', ')} of ${unit} is put out of force during an upgrade`,
    stoppedWithIt.length > 0 && `${stoppedWithIt.join(', ')} is stopped with ${unit} and started again after it`,
    triggeredBy.length > 0 && `${triggeredBy.join(', ')} can't start ${unit} while it is being changed`,
  ];
  return found.filter((sentence) => sentence !== false);
}

const FETCHES = /\b(curl|wget|apt|apt-get|dnf|yum|docker|podman|git|rsync|scp|cosmovisor)\b/;

/** Whether a command has the path, or the folder that it lies in, among its arguments; the program itself is none. */
function mentions(commands: string, path: string): boolean {
  const folder = dirname(path);
  const words = [...commands.matchAll(/argv\[\]=(.*?) ; ignore_errors/g)].flatMap(([, argv = '']) =>
    argv.split(/[\s;]+/).slice(1),
  );
  return words.some((word) => [path, folder, `${folder}/`].includes(word));
}
