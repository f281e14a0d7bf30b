import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8');
const SETTING = /\b(?:HOODCLOUD_[A-Z_]+|DATABASE_URL|TEMPORAL_(?:ADDRESS|NAMESPACE))\b/g;

it('docs/operations names exactly the settings that the control plane reads', () => {
  const inCode = new Set([
    ...(read('packages/controlplane/src/config.ts').match(SETTING) ?? []),
    ...(read('packages/controlplane/src/auth/jwt-settings.ts').match(SETTING) ?? []),
    ...(read('packages/controlplane/src/dev/postgres-binaries.ts').match(SETTING) ?? []),
    ...(read('packages/controlplane/src/dev/temporal-server.ts').match(SETTING) ?? []),
  ]);
  const inDocs = new Set(read('docs/operations/README.md').match(SETTING) ?? []);
  expect([...inDocs].sort()).toEqual([...inCode].sort());
});
