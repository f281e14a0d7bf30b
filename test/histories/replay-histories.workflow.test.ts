import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadWorkflowBundle, type WorkflowBundle } from '@hoodcloud/controlplane/engine/workflow-bundle';
import { historyFromText, replay } from '@hoodcloud/testkit/workflow-history';
import { beforeAll, expect, it } from 'vitest';
import { GROUP_HISTORY_SCENES } from './group-scenes.ts';
import { HISTORY_SCENES } from './scenes.ts';

const FOLDER = fileURLToPath(new URL('./recorded/', import.meta.url));
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

const read = (file: string) => historyFromText(readFileSync(`${FOLDER}${file}`, 'utf8'));

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  workflowBundle = await loadWorkflowBundle();
});

it('there is a recorded history of every scene, of the rollout and of a node', () => {
  for (const scene of Object.keys(HISTORY_SCENES)) {
    const kinds = files.filter((file) => file.startsWith(`${scene}.`)).map((file) => file.split('.').at(-2));
    expect(kinds, scene).toEqual(expect.arrayContaining(['rollout', 'node']));
  }
});

it('there are recorded histories of every scene of a group, one for each component and the end (field-case 113)', () => {
  for (const scene of Object.keys(GROUP_HISTORY_SCENES)) {
    const runs = files.filter((file) => file.startsWith(`${scene}.`) && file.endsWith('.group.json'));
    expect(runs.length, scene).toBeGreaterThanOrEqual(3);
  }
});

it.each(files)('replays %s: runs of this kind that are under way go on under the code of today', async (file) => {
  await expect(replay(workflowBundle, read(file))).resolves.toBeUndefined();
});

it('notices a history that the code of today would not make', async () => {
  const file = files.find((name) => name.startsWith('agent-undid-it.') && name.endsWith('.node.json'));
  const recorded = read(file ?? '');
  for (const event of recorded.history.events ?? []) {
    const type = event.activityTaskScheduledEventAttributes?.activityType;
    if (type) type.name = 'WaitForSomethingElse';
  }
  await expect(replay(workflowBundle, recorded)).rejects.toThrow(/[Nn]ondeterminis/);
});
