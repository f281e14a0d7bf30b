import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ManifestFields, manifestFor, writeChain, writeManifest } from './stack/chain-folder.ts';
import { ControlOrders } from './stack/control-orders.ts';
import { ROLES } from './stack/control-plane.ts';
import { Stack } from './stack/stack.ts';
import { OwnStores } from './stack/stores.ts';
import type { TinyHost } from './stack/tiny-host.ts';
import { tinyRelease } from './stack/tiny-release.ts';
import { until } from './stack/until.ts';

const OLD = tinyRelease('v1');
const NEW = tinyRelease('v2');
const ONE_BY_ONE = ['--strategy', 'rolling', '--batch-size', '1'];

let stores: OwnStores;
let stack: Stack;
let orders: ControlOrders;

beforeAll(async () => {
  stores = await OwnStores.start();
  stack = await Stack.open(stores);
  orders = new ControlOrders(stack);
}, 600_000);
afterAll(() => stack?.dispose());

/** A chain with two hosts that stop only when they are let, and what a test does with it. */
class Scene {
  readonly chain: string;
  hosts: TinyHost[] = [];

  constructor(chain: string) {
    this.chain = chain;
  }

  static async open(chain: string): Promise<Scene> {
    const scene = new Scene(chain);
    writeChain(stack.plane.configDir, chain, { known: [OLD], budgets: { stop_seconds: 600 } });
    scene.hosts = await stack.fleet(chain, 2, OLD);
    for (const host of scene.hosts) host.stopSlowly();
    return scene;
  }

  offer(fields: ManifestFields = {}, release = NEW): string {
    const url = stack.artifacts.publish(`${this.chain}/${release.version}`, release.content);
    return writeManifest(stack.plane.configDir, manifestFor(this.chain, release, url, fields));
  }

  create(upgrade: string, ...flags: string[]): Promise<string> {
    return stack.create(this.chain, upgrade, ...(flags.includes('--strategy') ? flags : [...ONE_BY_ONE, ...flags]));
  }

  hostOf({ node_name }: RolloutNodeView): TinyHost {
    const host = this.hosts.find(({ name }) => name === node_name);
    if (!host) throw new Error(`no host ${node_name}`);
    return host;
  }

  /** The node of the rollout that was told to stop and hasn't yet. */
  closing(id: string): Promise<RolloutNodeView> {
    return until('a node to be stopping', async () =>
      (await stack.nodesOf(id)).find((row) => this.hostOf(row).isClosing()),
    );
  }

  node(id: string, wanted: (row: RolloutNodeView) => boolean, what: string): Promise<RolloutNodeView> {
    return until(`a node that is ${what}`, async () => (await stack.nodesOf(id)).find(wanted));
  }

  /** From now on every node stops at once. */
  stopFreely(): void {
    for (const host of this.hosts) host.stopAtLast();
  }

  runs(): string[] {
    return this.hosts.map((host) => host.journal('starts').at(-1) ?? '');
  }
}

const named = ({ node_name, node_id }: RolloutNodeView) => ({ name: node_name, id: node_id });
const has = (status: RolloutNodeView['status']) => (row: RolloutNodeView) => row.status === status;

describe.concurrent('a person orders through hoodctl', () => {
  it('cancel while it is pending, running and paused, and rollback after it', async () => {
    const scene = await Scene.open('canceled');
    const upgrade = scene.offer();
    const pending = await scene.create(upgrade);
    await orders.order(pending, 'cancel');
    await stack.untilStatus(pending, 'canceled');

    const paused = await scene.create(upgrade);
    await orders.order(paused, 'start');
    const stopping = await scene.closing(paused);
    await orders.order(paused, 'skip', (await scene.node(paused, has('pending'), 'pending')).node_name);
    await orders.order(paused, 'pause');
    scene.hostOf(stopping).stopAtLast();
    await stack.untilStatus(paused, 'paused', 'completed');
    if ((await stack.rollout(paused)).status === 'paused') await orders.order(paused, 'cancel');
    await orders.probe(paused, named(stopping));

    const running = await scene.create(upgrade);
    await orders.order(running, 'start');
    const other = await scene.closing(running);
    await orders.order(running, 'cancel');
    const whileCanceling = await orders.probe(running, named(other));
    expect(whileCanceling.filter(({ taken }) => taken).map(({ control }) => control)).toEqual(['cancel']);
    scene.stopFreely();
    await stack.untilStatus(running, 'canceled');
    await orders.probe(running, named(other));
    await orders.order(running, 'rollback');
    await stack.untilStatus(running, 'rolled_back');
  });
});

describe('a breaking migration', () => {
  const BREAKING = { state_compatibility: { migration_type: 'breaking' }, recovery_plan: 'Restore the snapshot.' };
  const FLAGS = ['--strategy', 'canary', '--canary-size', '1', '--acknowledge-state-risk'];
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open('breaking');
  }, 600_000);

  it('waits for its approval through a crash of every role, Temporal and Postgres', async () => {
    const id = await scene.create(scene.offer(BREAKING), ...FLAGS);
    await orders.order(id, 'start');
    const canary = await scene.closing(id);
    const early = await orders.probe(id, named(canary));
    expect(early.find(({ control }) => control === 'approve_canary')).toMatchObject({ code: 'canary_not_ended' });
    scene.stopFreely();
    await untilApprovalIsWanted(id);

    await stack.plane.killRoles(...ROLES);
    await stores.killTemporal();
    await stores.postgres.kill();
    await stores.postgres.start();
    await stores.startTemporal();
    await stack.plane.startRoles(...ROLES);

    await until('both agents to be connected again', async () => {
      const nodes = await Promise.all(scene.hosts.map((host) => host.view()));
      return nodes.every(({ online }) => online);
    });
    await untilApprovalIsWanted(id);
    const waiting = await scene.node(id, has('pending'), 'pending');
    expect(scene.hostOf(waiting).journal('stops')).toEqual([]);
    await orders.order(id, 'approve_canary');
    await stack.untilStatus(id, 'completed');
    expect(scene.runs()).toEqual(['v2 runs', 'v2 runs']);
  });

  it('takes its approval while it is paused, and goes on when it is resumed', async () => {
    const id = await scene.create(scene.offer(BREAKING, tinyRelease('v3')), ...FLAGS);
    await orders.order(id, 'start');
    await untilApprovalIsWanted(id);
    await orders.order(id, 'pause');
    await stack.untilStatus(id, 'paused');
    await orders.order(id, 'approve_canary');
    await orders.order(id, 'resume');
    await stack.untilStatus(id, 'completed');
    expect(scene.runs()).toEqual(['v3 runs', 'v3 runs']);
  });

  function untilApprovalIsWanted(id: string): Promise<unknown> {
    return until('the rollout to wait for its approval', async () => {
      const { waiting } = await stack.rollout(id);
      return waiting?.reasons.some(({ code }) => code === 'waiting_for_approval');
    });
  }
});
