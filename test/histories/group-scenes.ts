import { groupWorkflowId } from '@hoodcloud/controlplane/workflows/workflow-ids';
import type { GroupLab } from '@hoodcloud/testkit/group-lab';
import type { RolloutLab, ScriptedAnswer } from '@hoodcloud/testkit/rollout-lab';

/** One interesting path of a group; answers the group whose histories are kept. */
export type GroupHistoryScene = (lab: RolloutLab, groups: GroupLab) => Promise<string>;

const DONE: ScriptedAnswer = { outcome: 'completed' };
const FAILS: ScriptedAnswer = { outcome: 'rolled_back', error: 'panic: unknown engine API' };
/** The first companion is upgraded, the others are not. */
const secondFails = (earlier: number): ScriptedAnswer => (earlier === 0 ? DONE : FAILS);
const ONE_AT_A_TIME = { request: { batch_size: 1 } };

/** By file name. Each begin of a component continues as new, so every path has several runs. */
export const GROUP_HISTORY_SCENES: Readonly<Record<string, GroupHistoryScene>> = {
  'group-completed': async (_, groups) => {
    const { groupId } = await groups.companionsTurn('manual', () => DONE);
    await groups.until(groupId, 'completed');
    return groupId;
  },
  'group-partial-ok': async (_, groups) => {
    const { groupId } = await groups.companionsTurn('partial_ok', secondFails, ONE_AT_A_TIME);
    await groups.until(groupId, 'partial');
    return groupId;
  },
  'group-rollback-all': async (_, groups) => {
    const { groupId } = await groups.companionsTurn('rollback_all', secondFails, ONE_AT_A_TIME);
    await groups.until(groupId, 'rolled_back');
    return groupId;
  },
  'group-manual-and-skipped': async (_, groups) => {
    const { groupId } = await groups.companionsTurn('manual', secondFails, ONE_AT_A_TIME);
    await groups.until(groupId, 'paused');
    await groups.order(groupId, 'skip');
    await groups.until(groupId, 'completed');
    return groupId;
  },
  'group-manual-and-resumed': async (_, groups) => {
    const { groupId } = await groups.companionsTurn('manual', secondFails, ONE_AT_A_TIME);
    await groups.until(groupId, 'paused');
    await groups.order(groupId, 'resume');
    await groups.until(groupId, 'completed');
    return groupId;
  },
  'group-rolled-back-after-its-end': async (_, groups) => {
    const { groupId } = await groups.companionsTurn('manual', () => DONE);
    await groups.until(groupId, 'completed');
    await groups.order(groupId, 'rollback');
    await groups.until(groupId, 'rolled_back');
    return groupId;
  },
  'group-signals-by-hand': async (lab, groups) => {
    const { groupId } = await groups.companionsTurn('manual', () => 'silent', ONE_AT_A_TIME);
    const handle = lab.client.workflow.getHandle(groupWorkflowId(groupId));
    await handle.signal('pause');
    await groups.untilReason(groupId, 'component_pausing');
    await handle.signal('cancel');
    lab.script = {};
    await groups.until(groupId, 'canceled');
    return groupId;
  },
};
