import { z } from 'zod';
import { EVENT_DATA } from './event-data.ts';
import { EVENT_KINDS, type EventKind } from './event-kinds.ts';
import { eventMessageSchema } from './event-message.ts';
import { EVENT_SUBJECTS } from './event-subjects.ts';

const ABOUT = `What happens in rollouts, published from the control plane's outbox by JetStream: at least once, in order per rollout.
The header Nats-Msg-Id is the same whenever an event is published again. Payloads grow by new fields without notice; schema_version
changes when a field changes or goes.`;

/** `rollout_started` → `RolloutStarted` */
function typeName(kind: EventKind): string {
  return kind.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function channelOf(kind: EventKind) {
  const address = EVENT_SUBJECTS[kind];
  const parameter = /\{(\w+)\}/.exec(address)?.[1] ?? '';
  const whose = parameter.replace('ID', '');
  return {
    address,
    parameters: { [parameter]: { description: `Id of the ${whose} that the event is about` } },
    messages: { [kind]: { $ref: `#/components/messages/${kind}` } },
  };
}

function messageOf(kind: EventKind) {
  return {
    name: kind,
    contentType: 'application/json',
    headers: {
      type: 'object',
      properties: { 'Nats-Msg-Id': { type: 'string', description: 'the same whenever the event is published again' } },
    },
    payload: { $ref: `#/components/schemas/${typeName(kind)}` },
  };
}

function schemaOf(kind: EventKind) {
  const schema = eventMessageSchema.extend({ kind: z.literal(kind), data: EVENT_DATA[kind] });
  // as input: a reader must bear fields that it doesn't know
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
  return JSON.parse(JSON.stringify(rest).replaceAll('"#/definitions/', '"#/components/schemas/'));
}

function schemas(): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const kind of EVENT_KINDS) {
    const { definitions = {}, ...schema } = schemaOf(kind);
    Object.assign(all, definitions, { [typeName(kind)]: schema });
  }
  return all;
}

function each<Value>(make: (kind: EventKind) => Value): Record<string, Value> {
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind, make(kind)]));
}

/** The AsyncAPI 3 document: every subject in NATS with the schema of its payload. */
export function asyncApiDocument() {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'hoodcloud rollout events',
      version: '1.0.0',
      description: ABOUT.replaceAll('\n', ' '),
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: each(channelOf),
    operations: each((kind) => ({
      action: 'send',
      channel: { $ref: `#/channels/${kind}` },
      messages: [{ $ref: `#/channels/${kind}/messages/${kind}` }],
    })),
    components: { messages: each(messageOf), schemas: schemas() },
  };
}
