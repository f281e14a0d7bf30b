import { join } from 'node:path';
import type { AgentConfig, ComponentConfig } from '../agent-config.ts';

/** The agent's unit as the package lays it: a component that runs in it is the agent itself. */
const AGENT_UNIT = 'hoodcloud-agent.service';
/** Carries out an upgrade of the agent from a copy of it; laid by the package, started by the agent and at boot. */
export const UPGRADE_UNIT = 'hoodcloud-agent-upgrade.service';

/** Whether this component is the agent itself: what stops it stops who would go on with the upgrade. */
export function isOwnComponent({ runtime }: ComponentConfig): boolean {
  return runtime.type === 'systemd' && runtime.unit === AGENT_UNIT;
}

/** The agent as a component of its own host; undefined when its operator doesn't want it upgraded by rollouts. */
export function ownComponent(config: AgentConfig): ComponentConfig | undefined {
  return config.components.find(isOwnComponent);
}

/** What passes between the agent and whoever upgrades it. */
export function selfUpgradeFolder(stateDir: string): string {
  return join(stateDir, 'self-upgrade');
}
