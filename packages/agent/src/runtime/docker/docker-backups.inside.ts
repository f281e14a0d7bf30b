import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { CommandResult } from '@hoodcloud/contracts/wire/agent-v1';
import { ArtifactKind, CommandSchema, CommandType, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import type { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Hand } from '../../hand/hand.ts';
import { AttemptStore } from '../../upgrade/attempt-store.ts';
import { UpgradeHandler } from '../../upgrade/upgrade-handler.ts';
import type { WantedArtifact } from '../runtime-adapter.ts';
import type { DockerAdapter } from './docker-adapter.ts';
import { containersOf, docker, makeContainer, startRegistry, type TestContainer } from './testing/test-container.ts';

let registry: TestRegistry;
let node: TestContainer;
let adapter: DockerAdapter;
let good: readonly [WantedArtifact, WantedArtifact];
let attempts = 0;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());
beforeEach(async () => {
  node = await makeContainer(registry);
  adapter = node.adapter();
  await adapter.start({ signal: AbortSignal.timeout(60_000), stableMs: 100 });
  good = [await node.offer('runs'), await node.offer('runs')];
});
afterEach(() => node.dispose());

/** The agent as it is started anew: handler, executor, records and adapter, without a stream. */
async function agent() {
  const results: CommandResult[] = [];
  const store = await AttemptStore.open(join(node.folder, 'state'), () => undefined);
  const environment = { store, log: pino({ level: 'silent' }), faultPoint: async () => undefined, now: Date.now };
  const component = { binaryName: node.name, dataDir: join(node.folder, 'data'), runtime: adapter };
  const handler = new UpgradeHandler(environment, [component], {
    onProgress: () => undefined,
    onResult: (result) => results.push(result),
  });
  return { handler, hand: new Hand({ store, handler, now: Date.now }), results };
}

async function told(operation: Operation, attemptId: string, artifact: WantedArtifact): Promise<CommandResult> {
  const { handler, results } = await agent();
  await handler.handle(
    create(CommandSchema, {
      commandId: `${Operation[operation]}-${attemptId}`,
      type: CommandType.UPGRADE,
      expiresInMs: 60_000,
      upgrade: {
        ...{ attemptId, operation, binaryName: node.name, budgets: { stableMs: 100 } },
        artifact: { kind: ArtifactKind.IMAGE, url: artifact.url, checksum: artifact.checksum },
      },
    }),
  );
  return results[0] ?? expect.unreachable('no result');
}

/** To the other of two good images. @returns the attempt's id */
async function upgrade(): Promise<string> {
  const attemptId = `attempt-${++attempts}`;
  const result = await told(Operation.UPGRADE, attemptId, good[attempts % 2] ?? good[0]);
  expect(result).toMatchObject({ outcome: Outcome.COMPLETED, errorMessage: '' });
  return attemptId;
}

async function undoneUpgrade(): Promise<void> {
  const result = await told(Operation.UPGRADE, `attempt-${++attempts}`, await node.offer('crashes'));
  expect(result).toMatchObject({ outcome: Outcome.ROLLED_BACK, failedAction: 'start_node' });
}

async function rollBackByHand(): Promise<void> {
  const { hand } = await agent();
  const { kind, attempt_id } = await hand.preview(node.name, null);
  const agreed = { kind, attemptId: attempt_id, named: false };
  expect(await hand.rollBack(node.name, agreed, () => undefined)).toMatchObject({ outcome: Outcome.COMPLETED });
}

const names = async () => (await containersOf(node.name)).map(({ Names }) => (Names[0] ?? '').slice(1)).sort();

/** A container with such a name that the agent has nothing to do with. */
async function foreign(name: string, policy: 'no' | 'always'): Promise<string> {
  const { Image } = await docker.getContainer(node.name).inspect();
  return (await docker.createContainer({ name, Image, HostConfig: { RestartPolicy: { Name: policy } } })).id;
}

describe('the old containers', () => {
  it('go with the backups that know them, however often nobody confirms (A13, field-case 73)', async () => {
    for (let round = 0; round < 4; round++) {
      await upgrade();
      await rollBackByHand();
      await undoneUpgrade();
    }
    // the one that serves, and those of the kept backups that name a container set aside
    expect((await names()).length).toBeLessThanOrEqual(1 + 3);
    const attemptId = await upgrade();
    await told(Operation.CONFIRM, attemptId, good[0]);
    expect(await names()).toEqual([node.name]);
  });

  it('of somebody else with such a name stay, and stand in nobody’s way while they lie still', async () => {
    const theirs = await foreign(`${node.name}.bak`, 'no');
    let last = '';
    for (let round = 0; round < 5; round++) last = await upgrade();
    expect(await names()).toContain(`${node.name}.bak-2`);
    await told(Operation.CONFIRM, last, good[0]);
    expect(await names()).toEqual([node.name, `${node.name}.bak`]);
    expect((await docker.getContainer(`${node.name}.bak`).inspect()).Id).toBe(theirs);
  });
});
