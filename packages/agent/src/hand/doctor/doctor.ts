import type { AgentConfig } from '../../agent-config.ts';
import { describeError } from '../../agent-error.ts';
import { adapterFor, sharedByAdapters } from '../../component-adapters.ts';
import { AttemptStore } from '../../upgrade/attempt-store.ts';
import { checkBackups } from './check-backups.ts';
import { checkClock } from './check-clock.ts';
import { checkComponents } from './check-components.ts';
import { checkGateway } from './check-gateway.ts';
import { checkLeftovers } from './check-leftovers.ts';
import { checkMembership } from './check-membership.ts';
import { checkRivals } from './check-rivals.ts';
import { type Check, type ExaminedComponent, type Finding, type Patient, trouble } from './finding.ts';

const CHECKS: Readonly<Record<string, Check>> = {
  membership: checkMembership,
  gateway: checkGateway,
  components: checkComponents,
  backups: checkBackups,
  leftovers: checkLeftovers,
  rivals: checkRivals,
  clock: checkClock,
};

/** Examines the host; changes nothing, and works with agent, runtime and control plane gone. */
export async function examineHost(config: AgentConfig): Promise<Finding[]> {
  const unreadableRecords: string[] = [];
  const records = await AttemptStore.look(config.state_dir, (path) => unreadableRecords.push(path)).list();
  const shared = sharedByAdapters();
  const components = await Promise.all(
    config.components.map(async (component): Promise<ExaminedComponent> => {
      const adapter = adapterFor(config, component, shared);
      try {
        return { config: component, adapter, status: await adapter.status(), statusError: null };
      } catch (error) {
        return { config: component, adapter, status: null, statusError: describeError(error).message };
      }
    }),
  );
  const patient: Patient = { config, records, unreadableRecords, components };
  const found = await Promise.all(Object.entries(CHECKS).map(([name, check]) => guarded(name, check, patient)));
  return found.flat();
}

/** A check that can't be made is a finding: the others go on. */
async function guarded(name: string, check: Check, patient: Patient): Promise<readonly Finding[]> {
  try {
    return await check(patient);
  } catch (error) {
    return [trouble(name, `this could not be checked: ${describeError(error).message}`, 'run doctor as root')];
  }
}

const MARKS: Readonly<Record<Finding['verdict'], string>> = { ok: '✓', warning: '!', trouble: '✗' };

/** The findings for people, what needs them last. */
export function doctorText(findings: readonly Finding[]): string {
  const order: readonly Finding['verdict'][] = ['ok', 'warning', 'trouble'];
  const sorted = order.flatMap((wanted) => findings.filter(({ verdict }) => verdict === wanted));
  const lines = sorted.flatMap(({ check, verdict, found, todo }) => [
    `${MARKS[verdict]} ${check}: ${found}`,
    ...(todo === null ? [] : [`    → ${todo}`]),
  ]);
  const count = (wanted: Finding['verdict']) => findings.filter(({ verdict }) => verdict === wanted).length;
  return [...lines, '', `${count('ok')} fine, ${count('warning')} to think about, ${count('trouble')} to do`].join(
    '\n',
  );
}
