import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { INCIDENT_STATUSES, type IncidentView } from '@hoodcloud/contracts/http/incidents';
import { renderAge } from '@hoodcloud/domain/duration-text';
import { type Command, Option } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { UUID } from '../api/resolve-id.ts';
import { CliError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { renderPairs, renderTable } from '../output/table.ts';

interface Why {
  readonly reason?: string;
}

/** `hoodctl incident …` */
export function addIncidentCommands(program: Command, act: Act): void {
  const incident = program.command('incident').description('what needs a person');
  incident
    .command('list')
    .description('list incidents, newest first')
    .addOption(new Option('--status <status>', 'only this status').choices(INCIDENT_STATUSES))
    .action(act<{ status?: string }>(list));
  incident
    .command('show')
    .argument('<id>', 'the incident, or the beginning of its id')
    .description('show an incident with its recovery plan')
    .action(act(show));
  incident
    .command('ack')
    .argument('<id>', 'the incident, or the beginning of its id')
    .description('say that somebody looks after it')
    .option('--reason <text>', 'why; kept in the history')
    .action(act<Why>((io, args, flags) => order(io, args, 'acknowledge', flags)));
  incident
    .command('resolve')
    .argument('<id>', 'the incident, or the beginning of its id')
    .description('say that it is over')
    .option('--reason <text>', 'why; kept in the history')
    .action(act<Why>((io, args, flags) => order(io, args, 'resolve', flags)));
}

async function list(io: CommandIo, _: readonly string[], { status }: { status?: string }): Promise<void> {
  const items = await allPages<IncidentView>(await io.api(), PATHS.incidents, { status });
  io.answer(items, (incidents) => renderIncidents(incidents, io.context.now()));
  if (items.length === 0) io.remark('There is none.');
}

async function show(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const incident = await find(io, given);
  io.answer(incident, (answer) => renderIncident(answer, io.context.now()));
}

async function order(io: CommandIo, [given = '']: readonly string[], control: string, { reason }: Why): Promise<void> {
  const { id } = await find(io, given);
  const incident = await (await io.api()).post<IncidentView>(PATHS.incidentControl(id, control), { reason });
  io.answer(incident, (answer) => renderIncident(answer, io.context.now()));
}

async function find(io: CommandIo, given: string): Promise<IncidentView> {
  if (UUID.test(given)) return (await io.api()).get<IncidentView>(PATHS.incident(given));
  const found = (await allPages<IncidentView>(await io.api(), PATHS.incidents)).filter(({ id }) =>
    id.startsWith(given),
  );
  const [incident, second] = found;
  if (incident && !second) return incident;
  const what = incident ? `More than one incident begins with "${given}".` : `There is no incident "${given}".`;
  throw new CliError(what, { next: 'hoodctl incident list' });
}

function renderIncidents(incidents: readonly IncidentView[], now: Date): string {
  const rows = incidents.map((incident) => [
    incident.id,
    incident.severity,
    incident.status,
    incident.category,
    incident.node_name,
    renderAge(incident.created_at, now),
    incident.summary,
  ]);
  return renderTable(['id', 'severity', 'status', 'category', 'node', 'opened', 'summary'], rows);
}

function renderIncident(incident: IncidentView, now: Date): string {
  const by = (who: string | null, at: string | null) => (who ? `${renderAge(at, now)} by ${who}` : undefined);
  return renderPairs([
    ['Incident', incident.id],
    ['What', incident.summary],
    ['Category', `${incident.category} (${incident.severity})`],
    ['Status', incident.status],
    ['Node', incident.node_name],
    ['Rollout', incident.rollout_id],
    ['Opened', renderAge(incident.created_at, now)],
    ['Acknowledged', by(incident.acknowledged_by, incident.acknowledged_at)],
    ['Resolved', by(incident.resolved_by, incident.resolved_at)],
    ['Recovery', incident.recovery_plan ?? undefined],
    ['Runbook', incident.runbook],
  ]);
}
