import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandWords } from '../completion/command-words.ts';
import { buildProgram } from '../program.ts';
import { runWith } from '../testing/cli-run.ts';
import { nextCommand } from './next-command.ts';

/** Every status that the API answers with, from its document. */
const { paths } = JSON.parse(readFileSync(new URL('../../../contracts/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
};
const statuses = new Set(
  Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ responses }) => Object.keys(responses))),
);
const refusals = [...statuses].map(Number).filter((status) => status >= 400);

it.each(refusals)('an error answered with %i names what to do next', async (status) => {
  const { err, code } = await runWith(() => ({ status, body: { detail: 'It was refused.' } }), 'rollout', 'list');
  expect(code).toBe(1);
  expect(err).toMatch(/^✗ It was refused\.\n {2}Next: \S/);
});

it('names commands that there are', () => {
  const write = () => undefined;
  const context = {
    env: {},
    out: { write },
    err: { write },
    fetch,
    now: () => new Date(),
    interrupted: new AbortController().signal,
  };
  const known = commandWords(buildProgram(context, write)).map(({ path }) => path);
  const source = readFileSync(new URL('./next-command.ts', import.meta.url), 'utf8');
  const named = [...source.matchAll(/hoodctl ([a-z-]+(?: [a-z-]+)?)/g)].map(([, words = '']) => words);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((words) => !known.includes(words) && !known.includes(words.split(' ')[0] ?? ''))).toEqual([]);
  expect(nextCommand(404, 'node_not_found')).toBe('hoodctl node list');
});
