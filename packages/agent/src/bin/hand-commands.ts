import type { Command } from 'commander';
import { historyText } from '../hand/history-text.ts';
import { statusText } from '../hand/status-text.ts';
import { processTerminal } from '../hand/terminal.ts';
import { loadConfig } from './load-config.ts';

type WithConfig = (name: string, description: string) => Command;

/** What operators do on the host by hand, with the control plane gone and the agent running or not. */
export function addHandCommands(withConfig: WithConfig): void {
  addStatus(withConfig);
  addDoctor(withConfig);
  addHistory(withConfig);
  addRollback(withConfig);
}

function addStatus(withConfig: WithConfig): void {
  withConfig('status', 'show what runs here by version and checksum, what is held or open, and the last contact')
    .option('--json', 'print it as JSON', false)
    .addHelpText('after', STATUS_HELP)
    .action(async ({ config, json }: { config: string; json: boolean }) => {
      const { statusReport } = await import('../hand/status-report.ts');
      const report = await statusReport(await loadConfig(config));
      processTerminal.out(json ? JSON.stringify(report, null, 2) : statusText(report));
    });
}

function addDoctor(withConfig: WithConfig): void {
  withConfig('doctor', 'check what upgrades on this host need, and say what to do about what is wrong')
    .option('--json', 'print the findings as JSON', false)
    .addHelpText('after', DOCTOR_HELP)
    .action(async ({ config, json }: { config: string; json: boolean }) => {
      const { doctorText, examineHost } = await import('../hand/doctor/doctor.ts');
      const findings = await examineHost(await loadConfig(config));
      processTerminal.out(json ? JSON.stringify(findings, null, 2) : doctorText(findings));
      if (findings.some(({ verdict }) => verdict === 'trouble')) process.exitCode = 1;
    });
}

function addHistory(withConfig: WithConfig): void {
  withConfig('history', 'show the upgrades that were tried here: how they ended, why, and where logs and backups are')
    .argument('[binary_name]', 'only those of one component')
    .option('--logs <attempt>', 'print the log of the version that failed in this attempt')
    .option('--json', 'print it as JSON', false)
    .addHelpText('after', HISTORY_HELP)
    .action(async (component: string | undefined, { config, logs, json }: HistoryFlags) => {
      const { failedVersionLog, historyReport } = await import('../hand/history-report.ts');
      const loaded = await loadConfig(config);
      if (logs !== undefined) return processTerminal.out(await failedVersionLog(loaded, logs));
      const name =
        component === undefined
          ? null
          : (await import('../hand/rollback-command.ts')).componentNamed(loaded, component);
      const attempts = await historyReport(loaded, name);
      processTerminal.out(json ? JSON.stringify(attempts, null, 2) : historyText(attempts));
    });
}

interface HistoryFlags {
  readonly config: string;
  readonly logs?: string;
  readonly json: boolean;
}

function addRollback(withConfig: WithConfig): void {
  withConfig('rollback', 'put the version and the configs before the latest upgrade back, from the local backup')
    .argument('[binary_name]', 'the component; needed when the host has several')
    .option('--attempt <id>', 'go back to before this attempt (see `history`) instead of the latest')
    .option('-y, --yes', 'do not ask', false)
    .option('--dry-run', 'only show what would be done', false)
    .option('--json', 'print the result (with --dry-run the plan) as JSON', false)
    .addHelpText('after', ROLLBACK_HELP)
    .action(async (component: string | undefined, options: RollbackFlags) => {
      const { rollbackCommand } = await import('../hand/rollback-command.ts');
      const { attempt = null, yes, dryRun, json } = options;
      process.exitCode = await rollbackCommand(
        await loadConfig(options.config),
        { component: component ?? null, attempt, yes, dryRun, json },
        processTerminal,
      );
    });
}

interface RollbackFlags {
  readonly config: string;
  readonly attempt?: string;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

const STATUS_HELP = `
It reads this host only, so it works with the control plane gone and the agent dead. "held down" means that an upgrade keeps
the service from coming up by itself, e.g. at the next boot; \`doctor\` says what to do when nothing is open any more.

  $ hoodcloud-agent status
  $ hoodcloud-agent status --json | jq '.components[].running'
`;

const DOCTOR_HELP = `
It looks at the configuration, the credential, the way to the gateway and its certificate, each component's runtime, folders
and room for the next upgrade, the backups by their checksums, what crashes left, who else would bring another version back,
and the clock. It changes nothing. Each finding says what to do.

  $ hoodcloud-agent doctor
  $ hoodcloud-agent doctor --json | jq '.[] | select(.verdict != "ok")'

Exit codes: 0 nothing to do, warnings included; 1 something needs you; 2 wrong words or configuration.
`;

const HISTORY_HELP = `
  $ hoodcloud-agent history
  $ hoodcloud-agent history --logs ATTEMPT    # the last lines of the version that failed in it
`;

const ROLLBACK_HELP = `
It needs neither the control plane nor a network: everything comes from the backup of the attempt on this host. It is an
attempt like any other: the same steps, recorded one by one, finished by the next start of the agent when it is interrupted,
and undone when the earlier version does not stay up. An attempt that a dead agent left open is undone.

  $ hoodcloud-agent rollback --dry-run        # what would be done
  $ hoodcloud-agent rollback                  # shows it, asks, does it
  $ hoodcloud-agent rollback geth --yes       # one of several components, without a question

Exit codes: 0 the earlier version is back, 1 it is not (the last line says why), 2 wrong words or configuration,
3 nobody agreed: nothing was done.
`;
