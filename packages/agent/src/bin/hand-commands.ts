import type { Command } from 'commander';
import { loadAgentConfig } from '../agent-config.ts';
import { rollbackCommand } from '../hand/rollback-command.ts';
import { processTerminal } from '../hand/terminal.ts';

type WithConfig = (name: string, description: string) => Command;

/** What operators do on the host by hand, with the control plane gone and the agent running or not. */
export function addHandCommands(withConfig: WithConfig): void {
  withConfig('rollback', 'put the version and the configs before the latest upgrade back, from the local backup')
    .argument('[binary_name]', 'the component; needed when the host has several')
    .option('--attempt <id>', 'go back to before this attempt (see `history`) instead of the latest')
    .option('-y, --yes', 'do not ask', false)
    .option('--dry-run', 'only show what would be done', false)
    .option('--json', 'print the result (with --dry-run the plan) as JSON', false)
    .addHelpText('after', ROLLBACK_HELP)
    .action(async (component: string | undefined, options: RollbackFlags) => {
      const { attempt = null, yes, dryRun, json } = options;
      process.exitCode = await rollbackCommand(
        await loadAgentConfig(options.config),
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
