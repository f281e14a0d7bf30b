import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsServer } from '@hoodcloud/controlplane/dev/nats-server';
import type { ControlPlane, Role } from '../e2e/stack/control-plane.ts';
import type { OwnStores } from '../e2e/stack/stores.ts';

export interface Struck {
  readonly postgres: number;
  readonly temporal: number;
  readonly roles: Readonly<Record<Role, number>>;
}

/** So long something is away: long enough that others notice, shorter than a node may be unheard. */
const AWAY_MS = 4_000;
const BETWEEN_MS = 3_000;
export const STRUCK = ['worker', 'postgres', 'gateway', 'reconciler', 'temporal', 'api'] as const;

/** Kills one part of the control plane after the other, round after round, and brings each back. */
export class Strikes {
  readonly #plane: ControlPlane;
  readonly #stores: OwnStores;
  readonly #counts = new Map<string, number>();

  constructor(plane: ControlPlane, stores: OwnStores) {
    this.#plane = plane;
    this.#stores = stores;
  }

  get struck(): Struck {
    const of = (name: string) => this.#counts.get(name) ?? 0;
    const roles = { api: of('api'), gateway: of('gateway'), worker: of('worker'), reconciler: of('reconciler') };
    return { postgres: of('postgres'), temporal: of('temporal'), roles };
  }

  /** Goes on until `isOver`, which is asked between two strikes; at least one whole round. */
  async goOnUntil(isOver: () => Promise<boolean>): Promise<void> {
    do {
      for (const name of STRUCK) {
        await this.strike(name);
        await sleep(BETWEEN_MS);
      }
    } while (!(await isOver()));
  }

  /** Kills one of them and brings it back. */
  async strike(name: (typeof STRUCK)[number]): Promise<void> {
    console.log(`${name} is killed`);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    switch (name) {
      case 'postgres':
        await this.#stores.postgres.kill();
        await sleep(AWAY_MS);
        return this.#stores.postgres.start();
      case 'temporal':
        await this.#stores.killTemporal();
        await sleep(AWAY_MS);
        return this.#stores.startTemporal();
      default:
        await this.#plane.killRoles(name);
        await sleep(AWAY_MS);
        return this.#plane.startRoles(name);
    }
  }
}

/** NATS goes away, and comes back after so long and so many events at the earliest. @returns events written meanwhile */
export async function natsOutage(
  nats: NatsServer,
  least: { readonly ms: number; readonly events: number },
  written: () => Promise<number>,
): Promise<{ readonly seconds: number; readonly events: number }> {
  const [began, before] = [Date.now(), await written()];
  await nats.kill();
  console.log('NATS is killed');
  for (;;) {
    await sleep(1_000);
    const events = (await written().catch(() => before)) - before; // Postgres may be away too
    const ms = Date.now() - began;
    if (ms < least.ms || events < least.events) continue;
    await nats.start();
    console.log(`NATS is back after ${Math.round(ms / 1000)} s and ${events} events`);
    return { seconds: Math.round(ms / 1000), events };
  }
}
