import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  type Command,
  type CommandResult,
  CommandResultSchema,
  CommandSchema,
} from '@hoodcloud/contracts/wire/agent-v1';
import { replaceFile, syncFolder } from '../host/atomic-file.ts';
import { readTextIfThere } from '../host/read-if-there.ts';
import { selfUpgradeFolder } from './own-component.ts';

/** A command for the agent itself, as it is handed to the process that carries it out. */
export interface HandedOrder {
  readonly command: Command;
  /** Host's clock, milliseconds since the epoch. */
  readonly deadlineAtMs: number;
  /** The installation that took the command: another one is none of its business (field-case 13). */
  readonly installId: string;
}

/** Order and result of an upgrade of the agent, on disk: who wrote one may be gone when the other is read. */
export class HandedOrders {
  readonly #stateDir: string;
  readonly #folder: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#folder = selfUpgradeFolder(stateDir);
  }

  /** Copy of the agent that took the order: it carries the order out, whatever becomes of the installed one. */
  get program(): string {
    return join(this.#folder, 'hoodcloud-agent');
  }

  /** The folder in which everything about one order lies. */
  async create(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await syncFolder(this.#stateDir);
  }

  /** Null when there is none; one that can't be understood is set aside: records tell what was begun by it. */
  async order(): Promise<HandedOrder | null> {
    const read = await this.#read('order.json');
    if (read === null) return null;
    const { command, deadlineAtMs, installId } = read as unknown as Omit<HandedOrder, 'command'> & {
      command: JsonValue;
    };
    return { command: fromJson(CommandSchema, command), deadlineAtMs, installId };
  }

  /** On the disk when it resolves. */
  async give({ command, deadlineAtMs, installId }: HandedOrder): Promise<void> {
    await rm(join(this.#folder, 'result.json'), { force: true });
    await this.#write('order.json', { command: toJson(CommandSchema, command), deadlineAtMs, installId });
  }

  /** Null while the order isn't settled. */
  async result(): Promise<CommandResult | null> {
    const read = await this.#read('result.json');
    return read === null ? null : fromJson(CommandResultSchema, read);
  }

  /** On the disk when it resolves. */
  async answer(result: CommandResult): Promise<void> {
    await this.#write('result.json', toJson(CommandResultSchema, result));
  }

  /** Order, result and the copy of the agent are gone when it resolves. */
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    await syncFolder(this.#stateDir);
  }

  /** Names this installation of the agent; made by the package, or now. */
  async installId(): Promise<string> {
    const path = join(this.#stateDir, 'install-id');
    const known = (await readTextIfThere(path))?.trim();
    if (known) return known;
    const id = randomUUID();
    await replaceFile(path, `${id}\n`);
    return id;
  }

  async #read(name: string): Promise<JsonValue | null> {
    const path = join(this.#folder, name);
    const text = await readTextIfThere(path);
    if (text === null) return null;
    try {
      return JSON.parse(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      await rename(path, `${path}.unreadable`); // a faulty disk: never fatal (A4)
      return null;
    }
  }

  async #write(name: string, content: JsonValue | object): Promise<void> {
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    await replaceFile(join(this.#folder, name), `${JSON.stringify(content)}\n`, { mode: 0o600, ...owner });
  }
}
