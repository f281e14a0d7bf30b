import { spawn } from 'node:child_process';

/** What one command line of hoodctl showed. */
export interface CliAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line ended otherwise than the test needs; the message carries what the operator saw. */
export class HoodctlFailed extends Error {
  constructor(words: readonly string[], { code, stdout, stderr }: CliAnswer) {
    super(`hoodctl ${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  }
}

/** The operator's tool, run as a child process each time. */
export class Hoodctl {
  readonly #command: readonly [string, string];
  readonly #env: NodeJS.ProcessEnv;
  readonly #to: { readonly url: string; readonly apiKey: string };

  constructor(command: readonly [string, string], to: { readonly url: string; readonly apiKey: string }) {
    this.#command = command;
    this.#to = to;
    this.#env = { ...process.env, HOODCLOUD_URL: to.url, HOODCLOUD_API_KEY: to.apiKey, NO_COLOR: '1' };
  }

  /** Runs a command line and answers what it showed, whatever its exit code. */
  run(...words: string[]): Promise<CliAnswer> {
    const [program, script] = this.#command;
    return new Promise((resolve, reject) => {
      const child = spawn(program, [script, ...words], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk) => (stdout += chunk));
      child.stderr.on('data', (chunk) => (stderr += chunk));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
    });
  }

  /** Runs a command line that must succeed. @throws HoodctlFailed */
  async does(...words: string[]): Promise<string> {
    const answer = await this.run(...words);
    if (answer.code !== 0) throw new HoodctlFailed(words, answer);
    return answer.stdout;
  }

  /** The answer as data; 3 (a person is needed) and 1 (a rollout failed) are answers too. @throws HoodctlFailed */
  async asks<Answer>(...words: string[]): Promise<Answer> {
    const answer = await this.run(...words, '--output', 'json');
    if (answer.stdout === '') throw new HoodctlFailed(words, answer);
    return JSON.parse(answer.stdout) as Answer;
  }

  /** What hoodctl would ask, without a process for each of a test's many looks. @throws Error with the problem */
  async get<Answer>(path: string): Promise<Answer> {
    const response = await fetch(`${this.#to.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${this.#to.apiKey}` },
    });
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  /** Sends a control to the API itself: its HTTP status is what hoodctl turns into an exit code. */
  async post(
    path: string,
  ): Promise<{ readonly status: number; readonly detail: string; readonly reason: string | null }> {
    const response = await fetch(`${this.#to.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#to.apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const { detail = '', details } = (await response.json()) as { detail?: string; details?: { reason?: string } };
    return { status: response.status, detail, reason: details?.reason ?? null };
  }
}
