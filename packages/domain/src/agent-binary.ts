/** `binary_name` of the agent itself, when a rollout upgrades it like any other component. */
export const AGENT_BINARY_NAME = 'hoodcloud-agent';
