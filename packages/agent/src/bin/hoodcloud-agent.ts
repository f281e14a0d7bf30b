#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { type Logger, pino } from 'pino';
import { AgentError, describeError, errnoOf } from '../agent-error.ts';
import { AGENT_VERSION } from '../agent-version.ts';
import { SUPERVISE } from '../runtime/process/supervisor-command.ts';
import { addHandCommands } from './hand-commands.ts';
import { loadConfig } from './load-config.ts';

process.noDeprecation = true; // what libraries use of Node is for us to mend; an operator can do nothing about it

const DEFAULT_CONFIG = '/etc/hoodcloud/agent.yaml';

/** Anything else is 1: it could not be done. */
const EXIT_CODES: Readonly<Record<string, number>> = { invalid_config: 2, unknown_component: 2, not_agreed: 3 };

const EXAMPLE = `
The configuration is the truth about this host: what runs here, and how. An example:

  control_plane:
    address: gateway.example.org:9090
    tls: {}                          # leave it out only for a gateway without TLS, in development
  state_dir: /var/lib/hoodcloud
  allow_http_hosts: []               # hosts from which plain http downloads are allowed
  components:
    - binary_name: cometbft          # as the upgrade manifests name it
      install_path: /usr/local/bin/cometbft
      data_dir: /var/lib/cometbft    # backups are kept in its .upgrade-backup
      config_roots: [/var/lib/cometbft/config]   # the only places where upgrades write configs
      metrics_url: http://127.0.0.1:26660/metrics
      runtime: { type: systemd, unit: cometbft.service }
      # or, without systemd, supervised by the agent itself:
      # runtime:
      #   type: process
      #   command: [/usr/local/bin/cometbft, start, --home, /var/lib/cometbft]
      # or a container, then without install_path:
      # runtime: { type: docker, container: cometbft }

First steps on a new host, with a token from \`hoodctl node join-token\`:

  $ hoodcloud-agent join --token TOKEN
  $ systemctl start hoodcloud-agent   # without its unit: hoodcloud-agent run
`;

const program = new Command('hoodcloud-agent')
  .description('Upgrades the blockchain node of this host when its control plane says so, and undoes it when it fails.')
  .version(AGENT_VERSION)
  .exitOverride() // wrong words are 2, not the 1 of work that failed
  .showHelpAfterError('(hoodcloud-agent --help shows an example of the configuration)')
  .addHelpText('after', EXAMPLE);

const withConfig = (name: string, description: string) =>
  program
    .command(name)
    .description(description)
    .option('-c, --config <file>', "the agent's configuration", DEFAULT_CONFIG);

withConfig('join', 'exchange a one-time token for the credential of this host')
  .requiredOption('-t, --token <token>', 'a one-time token from `hoodctl node join-token`')
  .action(async (options: { config: string; token: string }) => {
    const { joinHost } = await import('../membership.ts');
    await joinHost(await loadConfig(options.config), options.token, (line) => console.log(line));
  });

withConfig('run', 'stay connected, report the node and carry out upgrades (for a service manager)').action(
  async (options: { config: string }) => {
    const config = await loadConfig(options.config);
    const ending = new AbortController();
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ending.abort());
    const { runAgent } = await import('../agent.ts');
    await runAgent(config, agentLog(), ending.signal);
    process.exit(0); // an upgrade under way is finished by the next start
  },
);

withConfig('start-node', 'start a component that its operator had stopped')
  .argument('<binary_name>')
  .action(async (binaryName: string, options: { config: string }) => {
    const { nodeStart } = await import('../node-commands.ts');
    await nodeStart(await loadConfig(options.config), binaryName);
  });

withConfig('stop-node', 'stop a component; it stays stopped, through upgrades too')
  .argument('<binary_name>')
  .option('--supervisor', 'end its supervisor too (runtime type process)', false)
  .action(async (binaryName: string, options: { config: string; supervisor: boolean }) => {
    const { nodeStop } = await import('../node-commands.ts');
    await nodeStop(await loadConfig(options.config), binaryName, options.supervisor);
  });

withConfig('leave', 'forget the control plane: removes the credential and what holds nodes down during upgrades')
  .option('--force', 'also while an upgrade is open, which nobody finishes then', false)
  .option('--keep-credential', 'a later installation goes on as the same node', false)
  .action(async ({ config, ...options }: { config: string; force: boolean; keepCredential: boolean }) => {
    const { leaveHost } = await import('../membership.ts');
    await leaveHost(await loadConfig(config), options, (line) => console.log(line));
  });

addHandCommands(withConfig);

program
  .command('self-upgrade', { hidden: true })
  .option('-c, --config <file>', "the agent's configuration", DEFAULT_CONFIG)
  .action(async (options: { config: string }) => {
    const { upgradeAgent } = await import('../self-upgrade/upgrade-agent.ts');
    await upgradeAgent(await loadConfig(options.config), agentLog());
  });

program
  .command(SUPERVISE, { hidden: true })
  .argument('<folder>')
  .action(async (folder: string) => {
    const { runSupervisor } = await import('../runtime/process/run-supervisor.ts');
    await runSupervisor(folder);
  });

function agentLog(): Logger {
  return pino({ level: process.env.HOODCLOUD_LOG_LEVEL ?? 'info' }, pino.destination(2));
}

/** A function: the shipped program is CommonJS, which knows no await outside of one. What nobody expected ends the process. */
async function main(): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2; // it has said what was wrong
      return;
    }
    if (errnoOf(error) === 'EACCES') {
      console.error(`hoodcloud-agent: ${describeError(error).message}: run it as root`);
      process.exitCode = 1;
      return;
    }
    if (!(error instanceof AgentError)) throw error;
    console.error(`hoodcloud-agent: ${error.message}`);
    process.exitCode = EXIT_CODES[error.code] ?? 1;
  }
}

void main();
