import { CONTROL_LEGAL_IN, type RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import type { RolloutNodeFacts } from '@hoodcloud/domain/rollout-snapshot';
import type { RolloutWorld } from '@hoodcloud/domain/testing/rollout-world';
import type { HowItGoes, RolloutUnderTest } from './rollout-under-test.ts';

/** Something that happens to a rollout, in the model and in reality. */
export interface Happening {
  readonly name: string;
  /** What can't happen in this world is left out. */
  readonly possible: (world: RolloutWorld) => boolean;
  /** @returns what the API must answer; null for what nobody answers */
  readonly inModel: (world: RolloutWorld) => 200 | 409 | null;
  /** @param world the world as it was when this was drawn @returns what the API answered */
  readonly inReality: (real: RolloutUnderTest, world: RolloutWorld) => Promise<number | null>;
}

const OF_A_NODE: readonly RolloutControlKind[] = ['retry', 'skip'];
export const BY_HAND = ['pause', 'resume', 'cancel', 'force', 'approve_canary'] as const;

/** Whether a workflow runs that signals reach. */
const isActive = ({ rollout }: RolloutWorld) => rollout.status === 'running' || rollout.status === 'paused';

/** A control at the API. @param at which node, for those that name one */
export function order(kind: RolloutControlKind, at: number): Happening {
  const ofNode = OF_A_NODE.includes(kind);
  const node = ({ rows }: RolloutWorld) => (ofNode ? (rows[at % rows.length]?.nodeId ?? null) : null);
  return {
    name: ofNode ? `${kind} ${at}` : kind,
    possible: ({ rollout, rows }) => !ofNode || (rollout.status !== 'pending' && rows.length > 0),
    inModel: (world) => (world.order(kind, node(world)) ? 200 : 409),
    inReality: async (real, world) => (await real.order(kind, node(world))).status,
  };
}

/** A signal that somebody sends straight to the workflow (C7a). */
export function signal(kind: (typeof BY_HAND)[number]): Happening {
  return {
    name: `${kind} by hand`,
    possible: isActive,
    inModel: (world) => {
      if (CONTROL_LEGAL_IN[kind].includes(world.rollout.status)) world.order(kind, null, true);
      return null;
    },
    inReality: async (real) => {
      await real.signal(kind);
      return null;
    },
  };
}

/** An attempt under way goes on: its agent answers, or its health is judged. */
export function goOn(at: number, how: HowItGoes): Happening {
  const rowIn = (world: RolloutWorld): RolloutNodeFacts | undefined => {
    const flying = world.inFlight();
    return flying[at % Math.max(flying.length, 1)];
  };
  return {
    name: `node ${at} ${how.well ? 'goes well' : how.undone ? 'is undone' : 'fails'}`,
    possible: (world) => world.inFlight().length > 0,
    inModel: (world) => {
      const row = rowIn(world);
      if (row) world.advance(row, how.well, how.undone);
      return null;
    },
    inReality: async (real, world) => {
      const row = rowIn(world);
      if (row) await real.goOn(row, how);
      return null;
    },
  };
}

/** What befalls the control plane or an agent: nothing may come of it for the rollout. */
function befalls(name: string, happen: (real: RolloutUnderTest) => Promise<void>): Happening {
  return {
    name,
    possible: isActive,
    inModel: () => null,
    inReality: async (real) => {
      await happen(real);
      return null;
    },
  };
}

export const RESTARTED_WORKER = befalls('the worker is restarted', (real) => real.bench.restartWorker());
export const RESTARTED_RELAY = befalls('the relay is restarted', (real) => real.bench.restartRelay());
export const LOST_WORKFLOW = befalls('the workflow is lost and revived', (real) => real.loseWorkflow());
export const HOURS_LATER = befalls('hours pass', (real) => real.letHoursPass());

export function reconnected(at: number): Happening {
  return befalls(`agent ${at} reconnects`, async ({ agents }) => agents[at % agents.length]?.reconnect());
}
