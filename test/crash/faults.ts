import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayFixture } from '@hoodcloud/controlplane/gateway/testing/gateway-fixture';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { until } from '@hoodcloud/testkit/until';
import type { Fault } from './crash-cells.ts';
import type { CrashHost } from './crash-host.ts';
import { SERVICE } from './small-service.ts';

/** The gateway that the agents of one lane talk to: a fault of its own takes it away. */
export class LaneGateway {
  readonly #fixture: GatewayFixture;
  #running: Awaited<ReturnType<GatewayFixture['gateway']>>;

  private constructor(fixture: GatewayFixture, running: Awaited<ReturnType<GatewayFixture['gateway']>>) {
    this.#fixture = fixture;
    this.#running = running;
  }

  static async listen(fixture: GatewayFixture, address: string): Promise<LaneGateway> {
    return new LaneGateway(fixture, await fixture.gateway({ listen: `${address}:0` }));
  }

  /** `host:port`; the same after a return. */
  get address(): string {
    return this.#running.address;
  }

  async stop(): Promise<void> {
    await this.#running.stop();
  }

  async comeBack(): Promise<void> {
    this.#running = await this.#fixture.gateway({ listen: this.address });
  }
}

interface Stage {
  readonly crash: CrashHost;
  readonly gateway: LaneGateway;
  /** The agent's process, which has stopped itself. */
  readonly pid: number;
  /** The control plane has the result: a record that can't be written does not tell. */
  readonly hasEnded: () => Promise<boolean>;
  /** Called between boot and agent. */
  readonly atBoot: () => Promise<void>;
}

/** Folders of the node: what a failing disk would take. */
const NODE_FOLDERS = ['/opt/app', '/etc/app', SERVICE.dataDir];
const SMALL_DISK = '/srv/small';
/** A network that is back after this has seen the agent try without it. */
const CUT_MS = 1_500;

/** Makes the fault, lets it last as long as it does, and ends it; the agent has work to do afterwards, or none. */
export const FAULT_ACTIONS: Readonly<Record<Fault, (stage: Stage) => Promise<void>>> = {
  agent_killed: ({ crash, pid }) => crash.signalAgent('KILL', pid),

  power_lost: async ({ crash, atBoot }) => {
    await crash.powerCycleWithoutAgent();
    await atBoot();
    await crash.startAgent();
  },

  disk_full: async ({ crash, pid, hasEnded }) => {
    // large pieces first, then what is left, byte by byte as a log would
    const fill = `for size in 1M 4k 1; do dd if=/dev/zero of=${SMALL_DISK}/ballast-$size bs=$size status=none 2>/dev/null || :; done`;
    await crash.host.sh(fill);
    await crash.signalAgent('CONT', pid);
    await until('the agent to say how it ended', hasEnded);
    await crash.host.sh(`rm ${SMALL_DISK}/ballast-*`);
  },

  read_only: async ({ crash, pid, hasEnded }) => {
    // a mount over the folder: one that has writers could not be made read-only
    await crash.host.sh(
      NODE_FOLDERS.map((path) => `mount --bind ${path} ${path}; mount -o remount,bind,ro ${path}`).join('\n'),
    );
    await crash.signalAgent('CONT', pid);
    await until('the agent to say how it ended', hasEnded);
    await crash.host.sh(NODE_FOLDERS.map((path) => `mount -o remount,bind,rw ${path}`).join('\n'));
  },

  network_cut: async ({ crash, pid }) => {
    await crash.host.cut();
    await crash.signalAgent('CONT', pid);
    await sleep(CUT_MS); // the fault is a time without network
    await crash.host.heal();
  },

  control_plane_gone: async ({ crash, gateway, pid }) => {
    const stopped = gateway.stop(); // it says goodbye to its agents, and this one stands still
    await crash.signalAgent('CONT', pid);
    await stopped;
    await until('the agent to end its work alone', () => crash.hasSettled());
    await gateway.comeBack();
  },
};

/** Puts the node's folders and the agent's on one small file system, which then can be filled. */
export async function giveSmallDisk(host: Host): Promise<void> {
  const folders = [...NODE_FOLDERS, '/var/lib/hoodcloud'];
  const binds = folders.map(
    (path, index) => `mkdir -p ${SMALL_DISK}/${index} ${path}; mount --bind ${SMALL_DISK}/${index} ${path}`,
  );
  await host.sh(`mkdir -p ${SMALL_DISK}; mount -t tmpfs -o size=64m,mode=755 tmpfs ${SMALL_DISK}\n${binds.join('\n')}`);
}
