import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ContainerView, Engine } from './engine.ts';
import { NO_RESTART, setRestartPolicy } from './restart-policy.ts';
import { containerInspect } from './test-inspect.ts';

/** Sentences that engines have said of a container that ended in that moment; a later one will have another. */
const SENTENCES = [
  'Cannot update container 5299: cannot update a deleted process: unknown',
  'Cannot update container 5299: unable to set unit properties: Unit docker-5299.scope not found.',
  'Cannot update container 5299: words of a later engine',
];

it('gives the policy to a container that ends in that very moment, whatever the engine says of it', async () => {
  const ended = spawn('true');
  await once(ended, 'exit');
  const { engine, updates } = await engineThatRefuses(SENTENCES, ended.pid);
  await setRestartPolicy(engine, await shown(engine), NO_RESTART);
  expect(updates()).toBe(SENTENCES.length + 1);
});

it('tells what the engine says of a container that lives on', async () => {
  const { engine, updates } = await engineThatRefuses(['no space left on device'], process.pid);
  const set = setRestartPolicy(engine, await shown(engine), NO_RESTART);
  await expect(set).rejects.toThrow('could not set the restart policy of node: the Docker engine says "no space left');
  expect(updates()).toBe(1);
});

async function shown(engine: Engine): Promise<ContainerView> {
  const view = await engine.container('node');
  if (view === null) throw new Error('it shows no container');
  return view;
}

/** Speaks the engine's API as far as it is needed here: which words it says, and when, no real engine lets us choose. */
async function engineThatRefuses(refusals: readonly string[], pid: number | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-engine-'));
  const State = { Status: 'running', Running: true, Pid: pid, StartedAt: '2026-01-01T00:00:00Z' };
  let updates = 0;
  const server = createServer((request, response) => {
    const refusal = request.method === 'POST' ? refusals[updates++] : undefined;
    const answer = refusal === undefined ? { ...containerInspect(), State } : { message: refusal };
    response.writeHead(refusal === undefined ? 200 : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  server.listen(join(folder, 'docker.sock'));
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  return { engine: new Engine(join(folder, 'docker.sock')), updates: () => updates };
}
