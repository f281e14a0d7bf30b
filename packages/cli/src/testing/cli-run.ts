import { runCli } from '../run-cli.ts';

/** What a command line printed and answered. */
export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One request as the API got it. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

type Answer = (request: SentRequest) => { readonly status?: number; readonly body?: unknown } | null;

/** Runs a command line against answers at the HTTP edge; a path that has none gets 404. */
export async function runWith(answer: Answer, ...argv: string[]): Promise<CliRun & { requests: SentRequest[] }> {
  const requests: SentRequest[] = [];
  const fetchAnswer: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
    const request = {
      method: init?.method ?? 'GET',
      path: url.pathname + url.search,
      headers: new Headers(init?.headers),
      body,
    };
    requests.push(request);
    const { status = 200, body: answered = {} } = answer(request) ?? { status: 404, body: { detail: 'no such thing' } };
    return new Response(JSON.stringify(answered), { status });
  };
  return { ...(await runAgainst(fetchAnswer, argv)), requests };
}

/** Runs a command line with the connection given by the environment. */
export async function runAgainst(fetchAnswer: typeof fetch, argv: readonly string[]): Promise<CliRun> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    env: { HOODCLOUD_URL: 'http://control.test', HOODCLOUD_API_KEY: 'key' },
    out: { write: (text) => (out += text) },
    err: { write: (text) => (err += text) },
    fetch: fetchAnswer,
    now: () => new Date('2026-01-01T00:01:00Z'),
    interrupted: new AbortController().signal,
  });
  return { code, out, err };
}
