-- B4a: when the agent began the step that its command is at; progress within the step does not move it.
alter table agent_commands add column action_since timestamptz;
