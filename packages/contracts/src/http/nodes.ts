import { APPLICATION_HEALTHS, NODE_STATES, SYNC_STATUSES } from '@hoodcloud/domain/node-state';
import { z } from 'zod';
import { pageQuerySchema, pageSchema, timestampSchema, uuidSchema, whySchema } from './common.ts';

export const createNodeSchema = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'letters, digits, ".", "_" and "-", at most 100'),
    chain_profile_id: z.string().min(1).max(100),
    node_type: z.string().min(1).max(50),
    labels: z.record(z.string().max(100), z.string().max(500)).default({}),
    /** Values of config templates that are this node's own; they win over the chain's. */
    variables: z.record(z.string().max(100), z.string().max(10_000)).default({}),
    reason: whySchema.optional(),
  })
  .meta({
    id: 'CreateNode',
    examples: [
      { name: 'validator-1', chain_profile_id: 'celestia-mocha', node_type: 'full', labels: { region: 'eu' } },
    ],
  });
export type CreateNodeInput = z.input<typeof createNodeSchema>;
export type CreateNodeRequest = z.infer<typeof createNodeSchema>;

export const nodeComponentSchema = z.object({
  binary_name: z.string(),
  runtime_type: z.enum(['systemd', 'docker', 'process']),
  artifact_kind: z.enum(['file', 'image']),
  active: z.boolean(),
  main_pid: z.number().int().nullable(),
  restarts: z.number().int(),
  running_checksum: z.string().nullable(),
  installed_checksum: z.string().nullable(),
  reported_version: z.string().nullable(),
  /** What the control plane knows to run; null until somebody names it (B2). */
  binary_version: z.string().nullable(),
  version_source: z.enum(['unknown', 'manifest', 'profile', 'rollout', 'operator']),
});

export const nodeSchema = z
  .object({
    id: uuidSchema,
    name: z.string(),
    chain_profile_id: z.string(),
    node_type: z.string(),
    labels: z.record(z.string(), z.string()),
    state: z.enum(NODE_STATES),
    /** What people see: `state` wins over `application_health`, which wins over `sync_status` (D0). */
    display_state: z.string(),
    application_health: z.enum(APPLICATION_HEALTHS),
    sync_status: z.enum(SYNC_STATUSES),
    height: z.number().int().nullable(),
    online: z.boolean(),
    last_heartbeat_at: timestampSchema.nullable(),
    clock_skew_ms: z.number().int().nullable(),
    joined_at: timestampSchema.nullable(),
    quarantined_at: timestampSchema.nullable(),
    /** As its agent reports it, e.g. `linux/amd64`; null before it has joined. */
    platform: z.string().nullable(),
    components: z.array(nodeComponentSchema),
    created_at: timestampSchema,
  })
  .meta({ id: 'Node' });
export type NodeView = z.infer<typeof nodeSchema>;

export const nodeListQuerySchema = pageQuerySchema.extend({
  chain_profile_id: z.string().max(100).optional(),
  node_type: z.string().max(50).optional(),
  state: z.enum(NODE_STATES).optional(),
  /** What the control plane knows a component to run. */
  version: z.string().max(50).optional(),
  /** Part of the name, in any case. */
  name: z.string().max(100).optional(),
  /** `false`: only nodes whose last heartbeat is too old, and those that never sent one. */
  online: z.enum(['true', 'false']).optional(),
});
export type NodeListQuery = z.infer<typeof nodeListQuerySchema>;
export const nodePageSchema = pageSchema(nodeSchema);

export const joinTokenRequestSchema = z
  .strictObject({
    expires_in_seconds: z.number().int().min(60).max(604_800).default(3600),
    reason: whySchema.optional(),
  })
  .meta({ id: 'CreateJoinToken', examples: [{ expires_in_seconds: 3600 }] });

/** The token is shown this once, since only its hash is stored; empty in a dry run and when an `Idempotency-Key` is sent again. */
export const joinTokenSchema = z.object({
  node_id: uuidSchema,
  join_token: z.string(),
  expires_at: timestampSchema,
});
export type JoinTokenView = z.infer<typeof joinTokenSchema>;

export const nameVersionSchema = z
  .strictObject({ version: z.string().min(1).max(50), reason: whySchema.optional() })
  .meta({ id: 'NameVersion', examples: [{ version: 'v1.0.0' }] });
export const nodeComponentParamsSchema = z.object({ id: uuidSchema, binary: z.string().min(1).max(100) });
