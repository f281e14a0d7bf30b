import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TemporalServer } from '@hoodcloud/controlplane/dev/temporal-server';
import { GroupLab } from '@hoodcloud/testkit/group-lab';
import { startTestPostgres, type TestPostgres } from '@hoodcloud/testkit/postgres';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { historyToText } from '@hoodcloud/testkit/workflow-history';
import { ensureTemporal } from '../../tools/temporal/ensure.mjs';
import { GROUP_HISTORY_SCENES } from './group-scenes.ts';
import { HISTORY_SCENES } from './scenes.ts';

const FOLDER = fileURLToPath(new URL('./recorded/', import.meta.url));

/**
 * Plays scenes on the real engine and keeps the histories of their workflows in `recorded/`, one file a run. Done anew
 * only on purpose (docs/guides): the old histories are what runs under way look like.
 * @param names of the scenes; all of them when empty
 */
async function record(names: readonly string[]): Promise<void> {
  const scenes = Object.entries(allScenes()).filter(([name]) => names.length === 0 || names.includes(name));
  const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-histories-'));
  const source = await ensureTemporal();
  if (source.kind === 'program') process.env.HOODCLOUD_TEMPORAL_BIN = source.path;
  const temporal = await TemporalServer.start({ folder, durable: false });
  let postgres: TestPostgres | undefined;
  try {
    postgres = await startTestPostgres();
    process.env.HOODCLOUD_TEST_DATABASE_URL = postgres.server.url();
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, play] of scenes) {
      for (const file of readdirSync(FOLDER)) if (file.startsWith(`${name}.`)) rmSync(join(FOLDER, file));
      const lab = await RolloutLab.open({ temporalAddress: temporal.address });
      try {
        const files = await keep(lab, name, await play(lab));
        console.log(`${name}: ${files} runs`);
      } finally {
        await lab.close();
      }
    }
  } finally {
    await temporal.stop();
    await postgres?.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every scene by its name; each answers the query that finds its workflows. */
function allScenes(): Record<string, (lab: RolloutLab) => Promise<string>> {
  const all: Record<string, (lab: RolloutLab) => Promise<string>> = {};
  for (const [name, play] of Object.entries(HISTORY_SCENES)) {
    all[name] = async (lab) => `RolloutID = '${(await play(lab)).rolloutId}'`;
  }
  for (const [name, play] of Object.entries(GROUP_HISTORY_SCENES)) {
    // its rollouts are like those of the scenes above
    all[name] = async (lab) =>
      `GroupID = '${await play(lab, new GroupLab(lab))}' AND WorkflowType = 'RolloutGroupWorkflow'`;
  }
  return all;
}

const KINDS: Readonly<Record<string, string>> = { RolloutWorkflow: 'rollout', RolloutGroupWorkflow: 'group' };

/** @returns how many runs were kept */
async function keep(lab: RolloutLab, name: string, query: string): Promise<number> {
  let run = 0;
  const executions = lab.client.workflow.list({ query });
  const found = [];
  for await (const execution of executions) found.push(execution);
  found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
  for (const { workflowId, runId, type } of found) {
    const history = await lab.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const file = `${name}.${String(run).padStart(2, '0')}.${KINDS[type] ?? 'node'}.json`;
    writeFileSync(join(FOLDER, file), `${historyToText(workflowId, history)}\n`);
    run += 1;
  }
  return run;
}

await record(process.argv.slice(2));
