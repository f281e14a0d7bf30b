import { fileURLToPath } from 'node:url';
import type { Database } from '@hoodcloud/controlplane/db/database';
import { until } from '@hoodcloud/testkit/until';
import { type ReceivedEvent, readPrinted } from '../events/receivers/print-event.ts';
import { TypeScriptProcess } from '../events/role-process.ts';

const program = (name: string) => fileURLToPath(new URL(`../events/receivers/${name}.ts`, import.meta.url));
const NAMES = ['nats', 'sse', 'webhook'] as const;
type Name = (typeof NAMES)[number];

/** Figures of one receiver. */
export interface Receipt {
  readonly receiver: Name;
  readonly events: number;
  /** Messages that came again under an id that had come before. */
  readonly again: number;
}

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

  /** Compares what each had with the outbox: the same events, those of each rollout in their order. @throws otherwise */
  async compare(db: Database): Promise<{ readonly written: number; readonly receipts: Receipt[] }> {
    const outbox = await this.#outbox(db);
    const receipts: Receipt[] = [];
    for (const name of NAMES) {
      const had = await this.#had(name);
      const distinct = [...new Map(had.map((event) => [event.id, event])).values()];
      const [wanted, got] = [byRollout(outbox), byRollout(distinct)];
      for (const [rollout, seqs] of wanted) {
        if (String(got.get(rollout)) !== String(seqs))
          throw new Error(`${name} had ${rollout} otherwise than the outbox`);
      }
      if (distinct.length !== outbox.length)
        throw new Error(`${name} had ${distinct.length} of ${outbox.length} events`);
      receipts.push({ receiver: name, events: distinct.length, again: had.length - distinct.length });
    }
    return { written: outbox.length, receipts };
  }

  /** How many events NATS' subscriber had so far. */
  async natsHad(): Promise<number> {
    return (await this.#had('nats')).length;
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

  async #outbox(db: Database): Promise<{ seq: number; rollout_id: string | null }[]> {
    const rows = await db.selectFrom('events').select(['published_seq', 'rollout_id']).orderBy('id').execute();
    return rows.flatMap(({ published_seq: seq, rollout_id }) => {
      if (seq === null) throw new Error('an event has no number yet');
      return seq > this.#after ? [{ seq, rollout_id }] : [];
    });
  }
}

/** Numbers of each rollout's events, in the order of the list; those of no rollout come in any order. */
function byRollout(events: readonly { seq: number; rollout_id: string | null }[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { seq, rollout_id } of events) {
    if (rollout_id === null) continue;
    const seqs = found.get(rollout_id) ?? [];
    seqs.push(seq);
    found.set(rollout_id, seqs);
  }
  return found;
}
