import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8');
const SETTING = /\b(?:HOODCLOUD_[A-Z_]+|DATABASE_URL|TEMPORAL_(?:ADDRESS|NAMESPACE))\b/g;

const inDocument = (file: string) => new Set(read(file).match(SETTING) ?? []);
/** Each secret may also be named by its file. */
const plain = (name: string) => name.replace(/_FILE$/, '');

it('docs/reference/configuration.md and docs/operations name exactly the settings that the control plane reads', () => {
  const inCode = new Set([
    ...inDocument('packages/controlplane/src/config-schema.ts'),
    ...inDocument('packages/controlplane/src/config-sources.ts'),
    ...inDocument('packages/controlplane/src/auth/jwt-settings.ts'),
    ...inDocument('packages/controlplane/src/dev/postgres-binaries.ts'),
    ...inDocument('packages/controlplane/src/dev/temporal-server.ts'),
  ]);
  const reference = inDocument('docs/reference/configuration.md');
  const inDocs = new Set([...reference, ...inDocument('docs/operations/README.md')]);
  expect([...inDocs].map(plain).sort()).toEqual(
    [...inDocs]
      .map(plain)
      .filter((name) => inCode.has(name) || inCode.has(`${name}_FILE`))
      .sort(),
  );
  expect([...inCode].filter((name) => !inDocs.has(name))).toEqual([]);
});
