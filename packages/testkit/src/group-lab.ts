import { randomUUID } from 'node:crypto';
import { orderGroupControl } from '@hoodcloud/controlplane/rollout-groups/order-group-control';
import type { RolloutGroupControlKind } from '@hoodcloud/domain/rollout-group-control';
import type { FailurePolicy } from '@hoodcloud/domain/rollout-group-status';
import { sql } from 'kysely';
import { type GroupRowParts, insertGroup, insertGroupComponents } from './group-rows.ts';
import type { RolloutLab, ScriptedAnswer } from './rollout-lab.ts';
import { insertNode } from './rows.ts';

export interface GroupScene {
  readonly groupId: string;
  readonly chain: string;
  readonly nodes: string[];
}

/** Groups in a `RolloutLab`: two components on each node, and heartbeats that a test lets come. */
export class GroupLab {
  readonly #lab: RolloutLab;

  constructor(lab: RolloutLab) {
    this.#lab = lab;
  }

  /** A chain of its own with healthy nodes of two components each, and a pending group for it. */
  async scene(size: number, group: Omit<GroupRowParts, 'chain_profile_id'> = {}): Promise<GroupScene> {
    const { db } = this.#lab;
    const chain = `chain-${randomUUID().slice(0, 8)}`;
    const nodes: string[] = [];
    for (const _ of Array.from({ length: size })) {
      const id = await insertNode(db, { chain_profile_id: chain, runningChecksum: null });
      await insertGroupComponents(db, id);
      nodes.push(id);
    }
    return { groupId: await insertGroup(db, { chain_profile_id: chain, ...group }), chain, nodes };
  }

  /**
   * A group of two nodes whose execution clients are upgraded and proved well, so that the companions have their turn.
   * @param companion answers the upgrade of a companion, the how many-th it is; `wayBack` their other commands
   */
  async companionsTurn(
    policy: FailurePolicy,
    companion: (earlier: number) => ScriptedAnswer,
    differs: Omit<GroupRowParts, 'chain_profile_id'> & { readonly wayBack?: () => ScriptedAnswer } = {},
  ): Promise<GroupScene> {
    const { wayBack = () => ({ outcome: 'completed' }) as const, ...group } = differs;
    const scene = await this.scene(2, { failure_policy: policy, ...group });
    let earlier = 0;
    this.#lab.script.agent = ({ operation, payload }) => {
      if (payload.binaryName !== 'companion') return { outcome: 'completed' };
      if (operation !== 'UPGRADE' || payload.targetVersion !== 'v2.0.0') return wayBack();
      const answer = companion(earlier);
      if (answer !== 'silent') earlier += 1;
      return answer;
    };
    await this.order(scene.groupId, 'start');
    await this.untilReason(scene.groupId, 'component_gate');
    for (const node of scene.nodes) await this.heartbeat(node);
    await this.untilComponent(scene.groupId, 1, 'running', 'paused', 'completed', 'failed');
    return scene;
  }

  /** Orders a control as the API does. */
  async order(groupId: string, kind: RolloutGroupControlKind, componentIndex?: number): Promise<void> {
    const sources = this.#lab.sources();
    await this.#lab.db
      .transaction()
      .execute((tx) =>
        orderGroupControl(tx, sources, { groupId, kind, componentIndex, actor: 'key:test', reason: 'a test' }),
      );
  }

  group(groupId: string) {
    return this.#lab.db.selectFrom('rollout_groups').selectAll().where('id', '=', groupId).executeTakeFirstOrThrow();
  }

  /** Rollouts of the components that have begun, in their order. */
  rollouts(groupId: string) {
    return this.#lab.db
      .selectFrom('rollouts')
      .selectAll()
      .where('group_id', '=', groupId)
      .orderBy('component_index')
      .execute();
  }

  /** Waits until the group has one of the statuses. */
  async until(groupId: string, ...statuses: string[]) {
    let last = '';
    const wanted = () => `group ${statuses.join(' or ')}; it is ${last}`;
    return this.#lab.waitFor(wanted, async () => {
      const group = await this.group(groupId);
      if (statuses.includes(group.status)) return group;
      last = `${group.status}: ${JSON.stringify(group.last_decision)}`;
      return null;
    });
  }

  /** Waits until a component's rollout has one of the statuses. */
  async untilComponent(groupId: string, index: number, ...statuses: string[]) {
    return this.#lab.waitFor(`component ${index} ${statuses.join(' or ')}`, async () => {
      const rollout = (await this.rollouts(groupId)).find((one) => one.component_index === index);
      return rollout && statuses.includes(rollout.status) ? rollout : null;
    });
  }

  /** Waits until the group's last answer has the reason. */
  async untilReason(groupId: string, code: string): Promise<void> {
    await this.#lab.waitFor(`the reason ${code}`, async () => {
      const decision = (await this.group(groupId)).last_decision as { reasons: { code: string }[] } | null;
      return decision?.reasons.some((reason) => reason.code === code);
    });
  }

  /** The heartbeat that the node's agent would send now: it runs what was installed last, and is well. */
  async heartbeat(nodeId: string): Promise<void> {
    await sql`
      update node_components c set running_checksum = latest.running_checksum, updated_at = now()
        from (select distinct on (r.binary_name) r.binary_name, n.running_checksum
                from rollout_nodes n join rollouts r on r.id = n.rollout_id
               where n.node_id = ${nodeId} and n.status in ('succeeded', 'rolled_back') and n.running_checksum is not null
               order by r.binary_name, n.ended_at desc) latest
       where c.node_id = ${nodeId} and c.binary_name = latest.binary_name`.execute(this.#lab.db);
    await this.#lab.db
      .updateTable('nodes')
      .set({ state: 'healthy', last_heartbeat_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', nodeId)
      .where('state', '<>', 'maintenance')
      .execute();
  }
}
