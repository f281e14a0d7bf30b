// What the workflow bundle holds: Temporal takes every export of this one file for a workflow.
export { RolloutGroupWorkflow } from './rollout-group-workflow.ts';
export { RolloutWorkflow } from './rollout-workflow.ts';
export { UpgradeNodeWorkflow } from './upgrade-node-workflow.ts';
