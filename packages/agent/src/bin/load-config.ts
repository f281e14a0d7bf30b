import type { AgentConfig } from '../agent-config.ts';

/**
 * The agent's own file. Its reader is loaded when it is needed, as all that a verb needs: a supervisor carries no gateway
 * client for the life of its node, and an operator in a hurry doesn't wait for one.
 * @throws AgentError `invalid_config`
 */
export async function loadConfig(path: string): Promise<AgentConfig> {
  const { loadAgentConfig } = await import('../agent-config.ts');
  return loadAgentConfig(path);
}
