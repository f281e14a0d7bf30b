import type { Version } from './rollback-preview.ts';
import type { ComponentStatus, StatusReport } from './status-report.ts';

/** The status for people. */
export function statusText(report: StatusReport): string {
  const { agent_version, agent_running, node, control_plane, components, unreadable_records } = report;
  const { address, connected, last_contact_at, reason } = control_plane;
  const contact = connected ? 'connected' : `not connected: ${reason}`;
  return [
    `Node           ${node === null ? 'this host has not joined: hoodcloud-agent join' : `${node.name} (${node.id})`}`,
    `Agent          ${agent_version}, ${agent_running ? 'running' : 'not running'}`,
    `Control plane  ${address}, ${contact}; last contact ${last_contact_at ?? 'never'}`,
    ...components.flatMap((component) => ['', ...componentLines(component)]),
    ...unreadable_records.map((path) => `\n${path} can't be read: \`hoodcloud-agent doctor\` says what to do`),
  ].join('\n');
}

function componentLines(component: ComponentStatus): string[] {
  const { binary_name, service, runtime, state, held, main_pid, restarts, running, installed, open, error } = component;
  const lines = [
    `${binary_name}  ${state ?? 'unknown'}${held ? ', held down by an upgrade' : ''}  (${runtime}: ${service})`,
  ];
  if (error !== null) return [...lines, `  it can't be looked at: ${error}`, ...openLines(component)];
  lines.push(
    `  running    ${versionLine(running)}${main_pid === null ? '' : `, pid ${main_pid}, ${restarts} restarts`}`,
  );
  lines.push(`  installed  ${installed.checksum === running.checksum ? 'the same' : versionLine(installed)}`);
  return open === null ? lines : [...lines, ...openLines(component)];
}

function openLines({ open }: ComponentStatus): string[] {
  if (open === null) return [];
  const { operation, attempt_id, step, step_state, began_at, direction, why_undone } = open;
  const where = step === null ? 'not begun' : `at ${step} (${step_state})`;
  const lines = [`  open       ${operation} of attempt ${attempt_id}, of ${began_at}, ${where}`];
  if (direction === 'undo') lines.push(`             it is being undone: ${why_undone}`);
  return lines;
}

export function versionLine({ version, checksum }: Version): string {
  return checksum === null ? 'nothing' : `${version ?? 'an unnamed version'}  ${checksum}`;
}
