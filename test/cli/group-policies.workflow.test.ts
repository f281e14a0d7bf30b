import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CliRun, runAgainst } from '@hoodcloud/cli/testing/cli-run';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { FAILURE_POLICIES, type FailurePolicy } from '@hoodcloud/domain/rollout-group-status';
import { GroupLab } from '@hoodcloud/testkit/group-lab';
import { insertGroupComponents } from '@hoodcloud/testkit/group-rows';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PAGE = fileURLToPath(new URL('../../docs/reference/group-failure-policies.md', import.meta.url));

const PROFILE = `chain_profile_id: twochain
node_types: [validator]
binaries:
  - name: execution
  - name: companion
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
  health_wait_seconds: 1
`;

const manifest = (binary: string) => `upgrade_id: ${binary}-v2
chain_profile_id: twochain
node_type: validator
binary_name: ${binary}
target_version: v2.0.0
target_url: https://releases.example.org/${binary}-v2.0.0
target_checksum: ${checksumOf('b')}
`;

const groupFile = (policy: FailurePolicy) => `chain_profile_id: twochain
node_type: validator
failure_policy: ${policy}
strategy: rolling
batch_size: 1
desired_versions: { execution: v2.0.0, companion: v2.0.0 }
component_order:
  - { binary_name: execution, upgrade_id: execution-v2 }
  - { binary_name: companion, upgrade_id: companion-v2 }
`;

/** How each policy ends, and what the operator orders on the way. */
const COURSES: Readonly<Record<FailurePolicy, readonly (readonly [words: string, exitCode: number])[]>> = {
  partial_ok: [['group create -f group.yaml --start --watch', 1]],
  rollback_all: [['group create -f group.yaml --start --watch', 0]],
  manual: [
    ['group create -f group.yaml --start --watch', 3],
    ['group show latest', 0],
    ['group skip latest --reason "the companion waits for its fix" --watch', 0],
  ],
};
const ENDS: Readonly<Record<FailurePolicy, string>> = {
  partial_ok: 'partial',
  rollback_all: 'rolled_back',
  manual: 'completed',
};

let lab: RolloutLab;
let api: ApiFixture;
let nodes: string[];
let address: string;
let beating = true;
let heart: Promise<void>;
beforeAll(async () => {
  lab = await RolloutLab.open();
  api = await ApiFixture.create({ database: lab.database });
  await api.writeConfig('twochain/profile.yaml', PROFILE);
  for (const binary of ['execution', 'companion']) {
    await api.writeConfig(`upgrades/twochain/${binary}-v2.yaml`, manifest(binary));
  }
  const groups = new GroupLab(lab);
  nodes = [];
  address = await api.app.listen({ port: 0, host: '127.0.0.1' });
  heart = (async () => {
    while (beating) {
      for (const node of nodes) await groups.heartbeat(node);
      await sleep(200);
    }
  })();
});
afterAll(async () => {
  beating = false;
  await heart;
  await api.dispose();
  await lab.close();
});

/** The words of a command line, quotes taken as a shell takes them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Ids and times differ in each run. */
function readable(text: string): string {
  const known: string[] = [];
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!known.includes(id)) known.push(id);
      return `<id ${known.indexOf(id) + 1}>`;
    })
    .replaceAll(/node-[0-9a-f]{8}/g, 'node-x')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

/** The nodes of one policy: fresh ones, so that each starts from the old versions. */
async function freshNodes(): Promise<void> {
  for (const node of nodes) {
    await lab.db.updateTable('nodes').set({ state: 'terminated' }).where('id', '=', node).execute();
  }
  nodes = [];
  for (const _ of [1, 2]) {
    const id = await insertNode(lab.db, { chain_profile_id: 'twochain', runningChecksum: null });
    await insertGroupComponents(lab.db, id);
    nodes.push(id);
  }
}

/** Runs a command line that may watch; fails with how things stand when it never ends. */
async function hoodctl(line: string): Promise<CliRun> {
  const words = wordsOf(line).map((word) => (word === 'group.yaml' ? join(api.configDir, word) : word));
  let ended = false;
  let stands = '';
  const run = runAgainst(fetch, [...words, '--url', address, '--api-key', api.key]).finally(() => {
    ended = true;
  });
  const watched = lab.waitFor(
    () => `hoodctl ${line}: ${stands}`,
    async () => {
      if (ended) return true;
      const groups = await lab.db.selectFrom('rollout_groups').select(['status', 'last_decision']).execute();
      const rollouts = await lab.db.selectFrom('rollouts').select(['status', 'last_decision']).execute();
      stands = JSON.stringify({ groups, rollouts });
      await sleep(200);
      return null;
    },
    100_000,
  );
  const [done] = await Promise.all([run, watched]);
  return done;
}

const transcripts: string[] = [];

it.each(FAILURE_POLICIES)('hoodctl shows a second component that fails under %s', async (policy) => {
  await freshNodes();
  await api.writeConfig('group.yaml', groupFile(policy));
  let companions = 0;
  lab.script.agent = ({ operation, payload }) => {
    if (payload.binaryName !== 'companion' || operation !== 'UPGRADE' || payload.targetVersion !== 'v2.0.0') {
      return { outcome: 'completed' };
    }
    companions += 1;
    return companions === 1 ? { outcome: 'completed' } : { outcome: 'rolled_back', error: 'panic: unknown engine API' };
  };
  const lines = [`## ${policy}`, '', '```console'];
  for (const [line, exitCode] of COURSES[policy]) {
    const { code, out, err } = await hoodctl(line);
    lines.push(`$ hoodctl ${line}`, readable(`${out}${err}`).trimEnd(), `(exit code ${code})`);
    expect({ code, out }, `${line}\n${out}${err}`).toMatchObject({ code: exitCode });
  }
  transcripts.push([...lines, '```', ''].join('\n'));
  const group = await lab.db
    .selectFrom('rollout_groups')
    .select('status')
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
  expect(group.status).toBe(ENDS[policy]);
});

it('the page of transcripts can be written', () => {
  expect(transcripts).toHaveLength(FAILURE_POLICIES.length);
  if (process.env.HOODCLOUD_WRITE_DOCS !== '1') return;
  const head = [
    '# A second component that fails, under each failure policy',
    '',
    '<!-- Written by test/cli/group-policies.workflow.test.ts with HOODCLOUD_WRITE_DOCS=1. -->',
    '',
    'Two hosts, each with an execution client and its companion, upgraded as a group in batches of one. The companion of',
    'the second host fails. Real API, engine, worker and `hoodctl`; the agents are scripted. Ids and times are masked.',
    '',
  ];
  writeFileSync(PAGE, [...head, ...transcripts].join('\n'));
});
