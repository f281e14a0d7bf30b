/** Writes packages/contracts/schemas: the JSON Schema of each file that people write. */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileJsonSchema, SCHEMA_NAMES } from '@hoodcloud/contracts/files/json-schemas';

const folder = new URL('../../packages/contracts/schemas/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const name of SCHEMA_NAMES) {
  await writeFile(new URL(`${name}.schema.json`, folder), `${JSON.stringify(fileJsonSchema(name), null, 2)}\n`);
}
