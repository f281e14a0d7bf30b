import { bundledProgram } from '../bundled-program.ts';
import type { Host } from './lab-host.ts';

/** Where the agent lives inside a lab host. */
export const AGENT_ON_HOST = {
  unit: 'hoodcloud-agent.service',
  program: '/opt/hoodcloud/hoodcloud-agent.mjs',
  config: '/etc/hoodcloud/agent.yaml',
  /** Variables of the agent's process, one `NAME=value` a line; read at each of its starts. */
  environment: '/etc/hoodcloud/agent.env',
  /** While this file is there the agent does not start, at boot either. */
  off: '/etc/hoodcloud/agent.off',
  stateDir: '/var/lib/hoodcloud',
} as const;

const UNIT_FILE = `[Unit]
Description=hoodcloud agent
After=network-online.target
Wants=network-online.target
ConditionPathExists=!${AGENT_ON_HOST.off}
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/env node ${AGENT_ON_HOST.program} run
EnvironmentFile=-${AGENT_ON_HOST.environment}
Restart=always
RestartSec=0
# what supervises nodes under runtime type process outlives the agent (A18a)
KillMode=process

[Install]
WantedBy=multi-user.target
`;

let bundle: Promise<Buffer> | undefined;

/** The agent as it is shipped, one file; built once a process. */
export function agentBundle(): Promise<Buffer> {
  bundle ??= bundledProgram('agent');
  return bundle;
}

/**
 * Installs the bundled agent as an enabled unit, joins the control plane by a one-time token and starts it.
 * @param config the agent's own file, YAML
 */
export async function installAgent(host: Host, config: string, joinToken: string): Promise<void> {
  const { unit, program, stateDir } = AGENT_ON_HOST;
  await host.writeFile(program, await agentBundle());
  await host.writeFile(AGENT_ON_HOST.config, config);
  await host.writeFile(`/etc/systemd/system/${unit}`, UNIT_FILE);
  await host.must('mkdir', '-p', stateDir);
  await host.must('node', program, 'join', '--token', joinToken);
  await host.sh(`systemctl daemon-reload; systemctl enable -q --now ${unit}`);
}
