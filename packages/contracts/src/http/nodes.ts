import { APPLICATION_HEALTHS, NODE_STATES, SYNC_STATUSES } from '@hoodcloud/domain/node-state';
import { NODE_UPGRADE_STATUSES } from '@hoodcloud/domain/node-upgrade-status';
import { ROLLOUT_DIRECTIONS } from '@hoodcloud/domain/rollout-status';
import { UPGRADE_PHASES } from '@hoodcloud/domain/upgrade-phase';
import { z } from 'zod';
import {
  idListSchema,
  pageQuerySchema,
  pageSchema,
  reasonSchema,
  timestampSchema,
  uuidSchema,
  whySchema,
} from './common.ts';
import { nodeHoldSchema } from './node-holds.ts';

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
  /** Its config files that rollouts wrote, as the agent last saw them; `edited` and `missing` are drift (E4). */
  configs: z.array(z.object({ path: z.string(), state: z.enum(['as_written', 'edited', 'missing']) })),
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
    /** What people keep it from now; what has expired is not here. */
    holds: z.array(nodeHoldSchema),
    created_at: timestampSchema,
  })
  .meta({ id: 'Node' });
export type NodeView = z.infer<typeof nodeSchema>;

/** One node, with why it waits. */
export const nodeDetailSchema = nodeSchema
  .extend({
    /** Why it is where it is, in a rollout under way or without one; never empty, the most important first. */
    why: z.array(reasonSchema),
  })
  .meta({ id: 'NodeDetail' });
export type NodeDetail = z.infer<typeof nodeDetailSchema>;

export const nodeListQuerySchema = pageQuerySchema.extend({
  chain_profile_id: z.string().max(100).optional(),
  node_type: z.string().max(50).optional(),
  state: z.enum(NODE_STATES).optional(),
  /** What the control plane knows a component to run. */
  version: z.string().max(50).optional(),
  /** Part of the name, in any case. */
  name: z.string().max(100).optional(),
  /** Only these, at most 100: what a screen asks for again when something happened to them. */
  node_id: idListSchema.optional(),
  /** The label `zone`. */
  zone: z.string().max(500).optional(),
  /** `false`: only nodes whose last heartbeat is too old, and those that never sent one. */
  online: z.enum(['true', 'false']).optional(),
});
export type NodeListQuery = z.infer<typeof nodeListQuerySchema>;
export const nodePageSchema = pageSchema(nodeSchema);

const count = z.number().int();
export const fleetSummaryQuerySchema = z.object({ chain_profile_id: z.string().max(100).optional() });

/** How many nodes there are of each kind; what few have comes last. */
export const fleetSummarySchema = z
  .object({
    nodes: count,
    online: count,
    chains: z.array(z.object({ chain_profile_id: z.string(), nodes: count, online: count })),
    states: z.array(z.object({ state: z.enum(NODE_STATES), nodes: count })),
    /** By the label `zone`; null: nodes without one. */
    zones: z.array(z.object({ zone: z.string().nullable(), nodes: count, online: count })),
    /** More than one version of a binary on a chain is version drift; null: what runs was never named (B2). */
    versions: z.array(
      z.object({ chain_profile_id: z.string(), binary_name: z.string(), version: z.string().nullable(), nodes: count }),
    ),
  })
  .meta({ id: 'FleetSummary' });
export type FleetSummary = z.infer<typeof fleetSummarySchema>;

/** One upgrade or rollback of a node, as its rollout's row tells it. */
export const nodeUpgradeSchema = z
  .object({
    rollout_id: uuidSchema,
    binary_name: z.string(),
    from_version: z.string().nullable(),
    to_version: z.string(),
    direction: z.enum(ROLLOUT_DIRECTIONS),
    status: z.enum(NODE_UPGRADE_STATUSES),
    phase: z.enum(UPGRADE_PHASES).nullable(),
    reason: reasonSchema.nullable(),
    error_message: z.string().nullable(),
    attempts: count,
    started_at: timestampSchema.nullable(),
    ended_at: timestampSchema.nullable(),
    duration_ms: count.nullable(),
    downtime_ms: count.nullable(),
    /** Whether the failed version's last lines are kept: `GET /rollouts/{id}/nodes/{nodeId}/logs` (A18). */
    has_log: z.boolean(),
  })
  .meta({ id: 'NodeUpgrade' });
export type NodeUpgradeView = z.infer<typeof nodeUpgradeSchema>;
export const nodeUpgradePageSchema = pageSchema(nodeUpgradeSchema);

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
