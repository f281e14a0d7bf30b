/** Writes packages/contracts/asyncapi.json: every subject in NATS with the schema of its payload. */
import { writeFile } from 'node:fs/promises';
import { asyncApiDocument } from '@hoodcloud/contracts/events/asyncapi-document';

await writeFile(
  new URL('../../packages/contracts/asyncapi.json', import.meta.url),
  `${JSON.stringify(asyncApiDocument(), null, 2)}\n`,
);
