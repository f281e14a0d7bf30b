import type { VersioningBehavior, WorkflowDefinitionOptions } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

/**
 * What a workflow does when a new build of the worker becomes current; said to the engine by versioned workers alone. From
 * an unversioned worker, whose build is of no deployment, the engine takes it too, and then hands none of the workflow's
 * activities to any worker.
 */
export function onNewBuild(behavior: VersioningBehavior): () => WorkflowDefinitionOptions {
  return () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: behavior } : {});
}
