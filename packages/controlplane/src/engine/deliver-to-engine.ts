import { attemptId } from '@hoodcloud/domain/agent-operation';
import { ActivityNotFoundError, type Client } from '@temporalio/client';
import type { Database } from '../db/database.ts';
import { awaitedEnd } from '../rollouts/awaited-rows.ts';
import {
  groupSearchAttributes,
  nodeSearchAttributes,
  rolloutSearchAttributes,
} from '../workflows/search-attributes.ts';
import { parseGroupWorkflowId, parseNodeWorkflowId, parseRolloutWorkflowId } from '../workflows/workflow-ids.ts';
import type { RolloutGroupInput, RolloutInput, SignalMark, UpgradeNodeInput } from '../workflows/workflow-input.ts';
import type { EngineMessage } from './engine-messages.ts';

/** What the relay signals has its row; a signal without this mark was sent by hand (C7a). */
const MARK: SignalMark = { stored: true };

/** Brings one address to the engine. A message holds no content: what is told is read from the rows now (B4). */
export class EngineDelivery {
  readonly #db: Database;
  readonly #client: Client;
  readonly #taskQueue: string;

  constructor(db: Database, client: Client, taskQueue: string) {
    this.#db = db;
    this.#client = client;
    this.#taskQueue = taskQueue;
  }

  /** @throws when the engine can't be reached; then the row is kept and tried again */
  async deliver(message: EngineMessage): Promise<void> {
    if (message.activity_id !== null) return this.#complete(message.workflow_id, message.activity_id);
    if (message.signal === null) return;
    if (message.workflow_type === 'RolloutWorkflow') return this.#signalRollout(message.workflow_id, message.signal);
    if (message.workflow_type === 'RolloutGroupWorkflow') return this.#signalGroup(message.workflow_id, message.signal);
    return this.#startNode(message.workflow_id);
  }

  async #signalGroup(workflowId: string, signal: string): Promise<void> {
    const groupId = parseGroupWorkflowId(workflowId);
    const group =
      groupId === null
        ? undefined
        : await this.#db
            .selectFrom('rollout_groups')
            .select(['id', 'chain_profile_id'])
            .where('id', '=', groupId)
            .executeTakeFirst();
    if (!group) return;
    const input: RolloutGroupInput = { version: 1, groupId: group.id };
    await this.#client.workflow.signalWithStart('RolloutGroupWorkflow', {
      workflowId,
      taskQueue: this.#taskQueue,
      args: [input],
      signal,
      signalArgs: [MARK],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: groupSearchAttributes(group),
    });
  }

  /** A vanished workflow starts anew and finds its rows. */
  async #signalRollout(workflowId: string, signal: string): Promise<void> {
    const rolloutId = parseRolloutWorkflowId(workflowId);
    const rollout =
      rolloutId === null
        ? undefined
        : await this.#db
            .selectFrom('rollouts')
            .select(['id', 'chain_profile_id', 'strategy', 'group_id'])
            .where('id', '=', rolloutId)
            .executeTakeFirst();
    if (!rollout) return; // deleted since: nobody is left to be told
    const input: RolloutInput = { version: 1, rolloutId: rollout.id };
    await this.#client.workflow.signalWithStart('RolloutWorkflow', {
      workflowId,
      taskQueue: this.#taskQueue,
      args: [input],
      signal,
      signalArgs: [MARK],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: rolloutSearchAttributes(rollout),
    });
  }

  /** Starts, or wakes, a node's workflow for the attempt that its row asks for. */
  async #startNode(workflowId: string): Promise<void> {
    const ids = parseNodeWorkflowId(workflowId);
    if (!ids) return;
    const row = await this.#db
      .selectFrom('rollout_nodes')
      .select(['attempt_count', 'requested_attempt'])
      .where('rollout_id', '=', ids.rolloutId)
      .where('node_id', '=', ids.nodeId)
      .executeTakeFirst();
    if (!row) return;
    const attempt = Math.max(row.requested_attempt, row.attempt_count);
    const input: UpgradeNodeInput = { version: 1, ...ids, attempt };
    await this.#client.workflow.signalWithStart('UpgradeNodeWorkflow', {
      workflowId,
      taskQueue: this.#taskQueue,
      args: [input],
      signal: 'wake',
      signalArgs: [],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: nodeSearchAttributes({
        ...ids,
        attemptId: attemptId(ids.rolloutId, ids.nodeId, attempt),
      }),
    });
  }

  async #complete(workflowId: string, activityId: string): Promise<void> {
    const end = await awaitedEnd(this.#db, activityId);
    if (end === null) return;
    try {
      await this.#client.activity.complete({ workflowId, activityId }, end);
    } catch (error) {
      // Not created yet, or completed before: whoever starts it looks at the row first (B5b).
      if (!(error instanceof ActivityNotFoundError)) throw error;
    }
  }
}
