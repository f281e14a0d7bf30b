/** Version of this agent, told to the control plane and shown to operators; package.json has the same. */
export const AGENT_VERSION = '0.1.0';
