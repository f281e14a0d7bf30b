import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLLOUT_ID, rolloutNodeView, rolloutView } from '../testing/sample-views.ts';

const ENTER = '\x1b[?1049h';
const LEAVE = '\x1b[?1049l';
const SHOW_CURSOR = '\x1b[?25h';
const LONG = { timeout: 60_000, interval: 50 };

let folder: string;
let server: Server;
let rollout: RolloutDetail = rolloutView();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodctl-terminal-'));
  await writeFile(join(folder, 'hoodctl.mjs'), await bundledProgram('cli'));
  server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (path.endsWith('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return; // nothing happens; the client ends it
    }
    const body = path.endsWith('/nodes') ? { items: [rolloutNodeView()], next_cursor: null } : rollout;
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
}, 120_000);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly pid: () => Promise<number>;
  /** The exit code, once it has ended, and the terminal's settings before and after. */
  readonly ended: Promise<{ code: string; before: string; after: string }>;
}

/** `hoodctl rollout status --watch`, as it is shipped, on a real terminal: what script(1) of every Debian makes. */
function watch(name: string, ...options: string[]): Run {
  const file = (what: string) => join(folder, `${name}.${what}`);
  const hoodctl = `exec ${process.execPath} hoodctl.mjs rollout status ${ROLLOUT_ID} --watch ${options.join(' ')}`;
  const lines = [
    'stty rows 24 cols 100',
    `stty -g > ${file('before')}`,
    `(echo $BASHPID > ${file('pid')}; ${hoodctl})`,
    `echo $? > ${file('code')}`,
    `stty -g > ${file('after')}`,
  ];
  const { CI: _, NO_COLOR: __, ...inherited } = process.env;
  const { port } = server.address() as AddressInfo;
  const env = { ...inherited, HOODCLOUD_URL: `http://127.0.0.1:${port}`, HOODCLOUD_API_KEY: 'key', TERM: 'xterm' };
  const run = ['-qec', `bash -c '${lines.join('; ')}'`, '/dev/null'];
  const child = spawn('script', run, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const text = async (what: string) => (await readFile(file(what), 'utf8')).trim();
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve())).then(async () => ({
    code: await text('code'),
    before: await text('before'),
    after: await text('after'),
  }));
  return { child, ended, output: () => output, pid: async () => Number(await text('pid')) };
}

/** What stands on the terminal when the full screen is gone. */
const afterScreen = (output: string) => output.slice(output.lastIndexOf(LEAVE));

async function restored(run: Run): Promise<string> {
  const { code, before, after } = await run.ended;
  expect(after, 'echo and line mode are as before').toBe(before);
  expect(run.output().split(ENTER).length).toBe(2);
  expect(run.output().split(LEAVE).length).toBe(2);
  expect(afterScreen(run.output())).toContain(SHOW_CURSOR);
  return code;
}

describe('the full screen on a real terminal', { timeout: 120_000 }, () => {
  it('gives the terminal back when a person leaves by q, and says that the rollout goes on', async () => {
    rollout = rolloutView();
    const run = watch('quit');
    await expect.poll(run.output, LONG).toContain('validator-1');
    run.child.stdin?.write('q');
    expect(await restored(run)).toBe('130');
    expect(afterScreen(run.output())).toContain('the rollout goes on on the server');
  });

  it('gives the terminal back when it is told to end (SIGTERM)', async () => {
    rollout = rolloutView();
    const run = watch('term');
    await expect.poll(run.output, LONG).toContain('validator-1');
    process.kill(await run.pid(), 'SIGTERM');
    expect(await restored(run)).toBe('130');
  });

  it('gives the terminal back when the rollout ends, with its exit code and how it ended', async () => {
    rollout = rolloutView();
    const run = watch('end');
    await expect.poll(run.output, LONG).toContain('validator-1');
    rollout = rolloutView({ status: 'failed' });
    expect(await restored(run)).toBe('1');
    expect(afterScreen(run.output())).toContain(`Next: hoodctl rollout nodes ${ROLLOUT_ID}`);
  });

  it('shows lines instead with --plain', async () => {
    rollout = rolloutView({ status: 'completed' });
    const run = watch('plain', '--plain');
    expect((await run.ended).code).toBe('0');
    expect(run.output()).not.toContain(ENTER);
    expect(run.output()).toContain('Completed.');
  });
});
