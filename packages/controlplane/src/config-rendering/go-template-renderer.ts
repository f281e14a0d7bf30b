import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DomainError } from '@hoodcloud/domain/errors';

export interface TemplateRequest {
  /** Shown in errors. */
  readonly name: string;
  readonly text: string;
  readonly vars: Readonly<Record<string, unknown>>;
}

/** A template that can't be rendered; the message has Go's own words: template name, line, column, what is wrong. */
export class TemplateError extends DomainError {
  constructor(message: string) {
    super('template', message, {});
  }
}

interface Waiting {
  readonly request: TemplateRequest;
  readonly resolve: (content: string) => void;
  readonly reject: (error: Error) => void;
}

interface Rendered {
  readonly content: string;
  readonly error?: string;
}

/**
 * Real Go `text/template` as WASM (E1) in a worker thread, so that rendering blocks nobody. What is asked for while the
 * worker is busy goes to it as one batch: the program's start costs more than a thousand templates.
 */
export class GoTemplateRenderer {
  readonly #limitMs: number;
  readonly #queue: Waiting[] = [];
  #worker: Worker | null = null;
  #busy = false;
  #closed = false;

  /** @param limitMs a batch that takes longer is given up, and its templates are tried one by one */
  constructor(limitMs = 10_000) {
    this.#limitMs = limitMs;
  }

  /** @throws TemplateError naming template, line and column; a missing variable is an error */
  render(request: TemplateRequest): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
    this.#worker = null;
  }

  #next(): void {
    if (this.#busy || this.#queue.length === 0) return;
    if (this.#closed) {
      for (const { reject } of this.#queue.splice(0)) reject(new Error('the template renderer is closed'));
      return;
    }
    this.#busy = true;
    void this.#renderBatch(this.#queue.splice(0)).finally(() => {
      this.#busy = false;
      this.#next();
    });
  }

  async #renderBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const rendered = await this.#ask(batch.map(({ request }) => request));
      for (const [index, { resolve, reject }] of batch.entries()) settle(rendered[index], resolve, reject);
    } catch (error) {
      await this.#dropWorker();
      if (batch.length > 1) {
        for (const waiting of batch) await this.#renderBatch([waiting]);
        return;
      }
      batch[0]?.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #ask(requests: readonly TemplateRequest[]): Promise<readonly Rendered[]> {
    const worker = this.#worker ?? (await startWorker());
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      const names = requests.map(({ name }) => name).join(', ');
      const onMessage = (rendered: readonly Rendered[]) => done(() => resolve(rendered));
      const onError = (error: Error) => done(() => reject(error));
      const onExit = (code: number) => onError(new Error(`the template worker ended with ${code}`));
      const tooSlow = `${names}: rendering took longer than ${this.#limitMs / 1000} s`;
      const timer = setTimeout(() => onError(new TemplateError(tooSlow)), this.#limitMs);
      const done = (settleAsk: () => void): void => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        worker.unref();
        settleAsk();
      };
      worker.ref();
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(requests);
    });
  }

  async #dropWorker(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = null;
  }
}

/** Resolves when the program is compiled: how long that takes on a busy machine is no template's fault. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./go-template-worker.mjs', import.meta.url), { execArgv: ['--no-warnings'] });
  await once(worker, 'message');
  // between two batches nobody waits for it; the next batch finds it gone and fails by itself
  return worker.on('error', (error) => process.emitWarning(`template worker: ${error.message}`));
}

function settle(rendered: Rendered | undefined, resolve: (content: string) => void, reject: (error: Error) => void) {
  if (!rendered) reject(new Error('the template worker gave too few answers'));
  else if (rendered.error) reject(new TemplateError(rendered.error));
  else resolve(rendered.content);
}
