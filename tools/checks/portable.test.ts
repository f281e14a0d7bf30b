import { expect, it } from 'vitest';
import { namesOneMachine } from './portable.mjs';

// Put together here so that this file itself stays portable.
const under = (...parts: string[]) => `/${parts.join('/')}`;

it.each([
  `cd ${under('root', 'project')}`,
  `"path": "${under('home', 'alice', 'src')}"`,
  `file://${under('Users', 'bob', 'x')}`,
  `see ${under('work', 'shared', 'notes')}`,
  `https://npm.company${'.internal'}/pg`,
])('takes %s for one machine’s own', (line) => {
  expect(namesOneMachine(line)).toBe(true);
});

it.each([
  `${under('proc', '42')}${under('root', 'etc', 'hosts')}`,
  under('home', 'hoodcloud', 'chain'),
  './work/in/progress',
  'https://example.com/home/alice/',
  under('var', 'lib', 'hoodcloud'),
])('lets %s pass', (line) => {
  expect(namesOneMachine(line)).toBe(false);
});
