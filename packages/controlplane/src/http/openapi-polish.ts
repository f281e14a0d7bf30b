import type { jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';

type Document = ReturnType<typeof jsonSchemaTransformObject>;

const ANSWERS: Readonly<Record<string, string>> = {
  '200': 'Done, or shown; of a dry run what would have been.',
  '201': 'Created.',
  '202': 'Taken up; it is done a moment later.',
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  dry_run: 'Make every check and change nothing.',
  'idempotency-key': 'The same key with the same request does it once and gives the first answer again, for a day.',
  'if-match': 'The ETag of what was looked at; refused with 412 when it changed since.',
  cursor: '`next_cursor` of the page before.',
  limit: 'How many at most.',
};

/** What people read in the document, and without the schemas that no operation refers to. */
export function polished(document: Document): Document {
  const shared = document as OpenAPIV3_1.Document;
  for (const item of Object.values(shared.paths ?? {})) {
    for (const method of ['get', 'post', 'put', 'delete'] as const) {
      const operation = item?.[method];
      if (operation) describe(operation);
      if (operation) relaxBody(operation, shared);
    }
  }
  dropUnused(shared);
  return document;
}

function describe(operation: OpenAPIV3_1.OperationObject): void {
  operation.summary ??= sentence(operation.operationId ?? '');
  for (const parameter of operation.parameters ?? []) {
    const text = 'name' in parameter ? DESCRIPTIONS[parameter.name] : undefined;
    if ('name' in parameter && text !== undefined) parameter.description ??= text;
  }
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const text = ANSWERS[status];
    if ('description' in response && text !== undefined) response.description = text;
  }
}

/** No body is as good as `{}`, so a body none of whose fields is required may be left out. */
function relaxBody({ requestBody }: OpenAPIV3_1.OperationObject, document: OpenAPIV3_1.Document): void {
  if (!requestBody || '$ref' in requestBody) return;
  const given = requestBody.content['application/json']?.schema;
  const name = given && '$ref' in given ? given.$ref.split('/').at(-1) : undefined;
  const schema = name === undefined ? given : document.components?.schemas?.[name];
  if (schema && !('$ref' in schema) && (schema.required ?? []).length === 0) requestBody.required = false;
}

/** `listRolloutNodes` → `List rollout nodes`. */
function sentence(operationId: string): string {
  const words = operationId.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The generator lists each schema once as input and once as output, needed or not. */
function dropUnused(document: OpenAPIV3_1.Document): void {
  const schemas = document.components?.schemas;
  if (!schemas) return;
  for (let dropped = -1; dropped !== 0; ) {
    const text = JSON.stringify(document);
    const unused = Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`));
    for (const name of unused) delete schemas[name];
    dropped = unused.length;
  }
}
