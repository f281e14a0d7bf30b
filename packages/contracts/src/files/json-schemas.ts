import { z } from 'zod';
import { chainProfileSchema, chainRuntimeSchema } from './chain-profile.ts';
import { notificationChannelsSchema } from './notification-channels.ts';
import { upgradeManifestSchema } from './upgrade-manifest.ts';

/** The files that people write, by the name under which their schema is published. */
const FILES = {
  'upgrade-manifest': { schema: upgradeManifestSchema, title: 'upgrades/CHAIN/UPGRADE.yaml of hoodcloud' },
  'chain-profile': { schema: chainProfileSchema, title: 'CHAIN/profile.yaml of hoodcloud' },
  'chain-runtime': { schema: chainRuntimeSchema, title: 'CHAIN/runtime.yaml of hoodcloud' },
  'notification-channels': { schema: notificationChannelsSchema, title: 'notification channels of hoodcloud' },
} as const;

export type SchemaName = keyof typeof FILES;
export const SCHEMA_NAMES = Object.keys(FILES) as SchemaName[];

/**
 * JSON Schema (2020-12) of a file, made from the very schema that the control plane and `hoodctl manifest lint` judge by, for
 * editors and pipelines. What only code can judge, such as CEL expressions and the place of a file, it leaves open.
 */
export function fileJsonSchema(name: SchemaName): Record<string, unknown> {
  const { schema, title } = FILES[name];
  const made = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Zod's own name, unknown to others; the pattern beside it says the same
      if (jsonSchema.format === 'starts_with') delete jsonSchema.format;
    },
  });
  return { ...made, title };
}
