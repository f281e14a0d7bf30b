import { Command, Option } from 'commander';
import { addApiKeyCommands } from './access/api-key-commands.ts';
import { addGrantCommands } from './access/grant-commands.ts';
import { addLoginCommand } from './access/login-command.ts';
import { addWhoamiCommand } from './access/whoami-command.ts';
import { addApplyCommands } from './apply/apply-commands.ts';
import { addApprovalCommands } from './approvals/approval-commands.ts';
import { addChainCommands } from './chains/chain-commands.ts';
import type { CliContext } from './cli-context.ts';
import { actIn } from './command-io.ts';
import { addCompletionCommand } from './completion/completion-command.ts';
import { addAuditCommand } from './events/audit-command.ts';
import { addEventsCommand } from './events/event-commands.ts';
import type { ExitCode } from './exit-code.ts';
import { addFreezeCommands } from './freezes/freeze-commands.ts';
import { addGroupCommands } from './groups/group-commands.ts';
import { addImportCommands } from './imports/import-commands.ts';
import { addIncidentCommands } from './incidents/incident-commands.ts';
import { addManifestCommands } from './manifests/manifest-commands.ts';
import { addNodeCommands } from './nodes/node-commands.ts';
import { addNotificationCommands } from './notifications/notification-commands.ts';
import { OUTPUT_FORMATS } from './output/output.ts';
import { addPlanCommands } from './plans/plan-commands.ts';
import { addPolicyCommands } from './policies/policy-commands.ts';
import { addRolloutCommands } from './rollouts/rollout-commands.ts';

const VERSION = '0.1.0';

const AFTER = `
Examples:
  $ hoodctl login --url http://localhost:8080          keep URL and key for later commands
  $ hoodctl node list                                  the fleet and what each node runs
  $ hoodctl rollout plan  --chain celestia-mocha --type full --upgrade v1.5.0-hotfix
  $ hoodctl rollout create --chain celestia-mocha --type full --upgrade v1.5.0-hotfix --strategy canary --start --watch
  $ hoodctl rollout pause latest --reason "waiting for the exchange"

Exit codes:
  0 done   1 failed or refused   2 wrong usage   3 paused or waiting for a person   4 the plan would change nodes   5 timed out

Environment:
  HOODCLOUD_URL, HOODCLOUD_API_KEY   used instead of what "hoodctl login" stored
  NO_COLOR                           no colours in the full-screen view of --watch`;

/** The whole command tree. Parsing throws CommanderError, commands throw CliError; `ended` gets the exit code. */
export function buildProgram(context: CliContext, ended: (code: ExitCode) => void): Command {
  const program = new Command('hoodctl');
  program
    .description('Upgrades fleets of blockchain nodes in place, batch by batch.')
    .version(VERSION)
    .option('--url <url>', 'the control plane, e.g. http://localhost:8080')
    .option('--api-key <key>', 'the key to use; better kept by "hoodctl login" than typed')
    .addOption(new Option('--output <format>', 'how answers are shown').choices(OUTPUT_FORMATS).default('table'))
    .option('--plain', 'with --watch: lines, also on a terminal')
    .addHelpText('after', AFTER)
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for what this command takes)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out.write(text),
      writeErr: (text) => context.err.write(text),
    });
  const act = actIn(context, ended);
  addRolloutCommands(program, act);
  addPlanCommands(program, act);
  addPolicyCommands(program, act);
  addFreezeCommands(program, act);
  addApplyCommands(program, act);
  addGroupCommands(program, act);
  addNodeCommands(program, act);
  addApprovalCommands(program, act);
  addChainCommands(program, act);
  addIncidentCommands(program, act);
  addNotificationCommands(program, act);
  addEventsCommand(program, act);
  addAuditCommand(program, act);
  addManifestCommands(program, act);
  addImportCommands(program, act);
  addApiKeyCommands(program, act);
  addGrantCommands(program, act);
  addLoginCommand(program, act);
  addWhoamiCommand(program, act);
  addCompletionCommand(program, act);
  return program;
}
