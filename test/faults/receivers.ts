import { fileURLToPath } from 'node:url';
import type { Database } from '@hoodcloud/controlplane/db/database';
import { until } from '@hoodcloud/testkit/until';
import { type ReceivedEvent, readPrinted } from '../events/receivers/print-event.ts';
import { TypeScriptProcess } from '../events/role-process.ts';
import { compareReceipts, type OutboxEvent, type Receipt } from './compare-receipts.ts';

const program = (name: string) => fileURLToPath(new URL(`../events/receivers/${name}.ts`, import.meta.url));
const NAMES = ['nats', 'sse', 'webhook'] as const;
type Name = (typeof NAMES)[number];

/** A NATS subscriber, an API client and a webhook receiver, each a process of its own. */
export class Receivers {
  readonly #processes: Readonly<Record<Name, TypeScriptProcess>>;
  /** Events up to this number came before the receivers were there. */
  readonly #after: number;

  private constructor(processes: Readonly<Record<Name, TypeScriptProcess>>, after: number) {
    this.#processes = processes;
    this.#after = after;
  }

  /** The webhook receiver alone: it must listen before its channel is there. */
  static async startWebhook(folder: string, port: number, secret: string): Promise<TypeScriptProcess> {
    const args = [String(port), secret];
    return new TypeScriptProcess('webhook', program('webhook-receiver'), args, { folder }).printed('listens');
  }

  static start(parts: {
    readonly folder: string;
    readonly webhook: TypeScriptProcess;
    readonly nats: { readonly url: string; readonly stream: string };
    readonly api: { readonly url: string; readonly key: string };
    readonly after: number;
  }): Receivers {
    const { folder, webhook, nats, api } = parts;
    const processes = {
      webhook,
      nats: new TypeScriptProcess('nats', program('nats-subscriber'), [nats.url, nats.stream], { folder }),
      sse: new TypeScriptProcess('sse', program('sse-client'), [api.url, api.key], { folder }),
    };
    return new Receivers(processes, parts.after);
  }

  /** Waits until each has had every event of the outbox. */
  async untilComplete(db: Database): Promise<void> {
    for (const name of NAMES) {
      await until(`every event to reach ${name}`, async () => {
        const missing = await this.#missing(db, name);
        if (missing.length === 0) return true;
        throw new Error(`${missing.length} are missing, e.g. ${missing.slice(0, 5).join(', ')}`);
      });
    }
  }

  /** @throws Error when one had other events than the outbox holds, or a rollout's in another order */
  async compare(db: Database): Promise<{ readonly written: number; readonly receipts: Receipt[] }> {
    const outbox = await this.#outbox(db);
    const receipts: Receipt[] = [];
    for (const name of NAMES) receipts.push(compareReceipts(name, outbox, await this.#had(name)));
    return { written: outbox.length, receipts };
  }

  async kill(): Promise<void> {
    await Promise.all(Object.values(this.#processes).map((one) => one.kill()));
  }

  async #had(name: Name): Promise<ReceivedEvent[]> {
    return readPrinted(await this.#processes[name].log()).filter(({ seq }) => seq > this.#after);
  }

  async #missing(db: Database, name: Name): Promise<number[]> {
    const had = new Set((await this.#had(name)).map(({ seq }) => seq));
    return (await this.#outbox(db)).map(({ seq }) => seq).filter((seq) => !had.has(seq));
  }

  /** In the order of their numbers, which is the order for readers: ids of transactions side by side commit in any (C11). */
  async #outbox(db: Database): Promise<OutboxEvent[]> {
    const events = db.selectFrom('events').select(['published_seq', 'rollout_id']);
    const rows = await events.orderBy('published_seq').execute();
    return rows.flatMap(({ published_seq: seq, rollout_id }) => {
      if (seq === null) throw new Error('an event has no number yet');
      return seq > this.#after ? [{ seq, rollout_id }] : [];
    });
  }
}
