import { parseShare } from '@hoodcloud/domain/quorum-facts';
import { parseAllowedOrigin } from '@hoodcloud/domain/trust/allowed-origin';
import { z } from 'zod';
import { checksumSchema } from './upgrade-manifest.ts';
import { hookCommandSchema, vendorHooksSchema } from './vendor-hook.ts';

const cel = z.string().min(1);
const seconds = z.number().positive();

/** How a chain's health is judged from the node's own metrics by CEL over `metrics` (D0a, D4a, D4b). */
export const chainHealthSchema = z.strictObject({
  healthy_expression: cel,
  synced_expression: cel,
  /** Must hold at the end of validation, e.g. "has signed lately". */
  ready_expression: cel.optional(),
  height_metric: z.string().optional(),
  /** The chain's longest normal pause between blocks; without it no halt is ever judged. */
  max_block_interval_seconds: seconds.optional(),
  health_wait_seconds: z.number().nonnegative().default(60),
  /** Without a new restart for so long after a start (D4c). */
  stable_seconds: z.number().nonnegative().default(10),
  /** More restarts than this in the window are a crash loop (D3). */
  max_restarts: z.number().int().nonnegative().default(3),
});

/** What a release must be before it is installed; its signature is demanded in `runtime.yaml`. */
const chainTrustSchema = z.strictObject({
  /** Cooldown: no node starts before the release is so old. */
  minimum_release_age_hours: z.number().nonnegative().max(8760).optional(),
  /** Where artifacts may come from, compared by server and whole parts of the path. */
  allowed_origins: z
    .array(
      z
        .string()
        .max(500)
        .refine(
          (text) => parseAllowedOrigin(text) !== null,
          'must be a server and the folder on it, such as https://github.com/cosmos/gaia, or a registry such as ghcr.io/sigp',
        ),
    )
    .min(1)
    .max(100)
    .optional(),
  /** Every rollout is approved by somebody else than who created it before its first node; left out: by nobody. */
  approvals: z.enum(['two_persons']).optional(),
});

/** A program on the node's host that says whether the node is free now. */
const dutyQuestionSchema = z.strictObject({
  command: hookCommandSchema,
  /** How long one answer may take; none by then is "not yet". */
  timeout_seconds: z.number().positive().max(86_400).default(30),
  /** Exit statuses that mean "ask again later"; 0 is "free", every other one is a failure. */
  ask_again: z.array(z.number().int().min(1).max(255)).min(1).max(16).default([75]),
  /** The node is left as it is, and its upgrade has failed, when it was not free for so long. */
  longest_wait_seconds: z.number().min(0).max(86_400).default(600),
  /** Components for whose upgrades it is asked; left out: for all. */
  binaries: z.array(z.string().min(1)).min(1).max(20).optional(),
});

/** When a node must not be stopped: a CEL expression over its metrics, or a program on its host, says when it is free. */
const dutySchema = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,49}$/, 'lower-case letters, digits and "-", at most 50'),
    free_expression: cel.optional(),
    /** Seconds until it is free, from the same metrics; shown, and when it is asked again. */
    wait_seconds_expression: cel.optional(),
    ask: dutyQuestionSchema.optional(),
  })
  .refine(({ free_expression, ask }) => (free_expression === undefined) !== (ask === undefined), {
    message: 'must have either free_expression (by its metrics) or ask (by a command)',
  })
  .refine(({ wait_seconds_expression, ask }) => wait_seconds_expression === undefined || ask === undefined, {
    path: ['wait_seconds_expression'],
    message: 'belongs to free_expression; a command prints free_in_seconds=N',
  });
export type ChainDuty = z.infer<typeof dutySchema>;

/** How much of a chain's voting power may be down at once; the quorum guard counts it. */
export const chainQuorumSchema = z.strictObject({
  /** The share that is down must stay below this. */
  limit: z
    .string()
    .refine((text) => parseShare(text) !== null, 'must be a fraction such as "1/3", not over 1')
    .default('1/3'),
  /** The node's own voting power; all its series together. */
  power_metric: z.string().min(1).default('cometbft_consensus_validator_power'),
  /** The voting power of the whole chain. */
  total_power_metric: z.string().min(1).default('cometbft_consensus_validators_power'),
  /** Nodes of these types vote: one of them whose power nobody knows is not stopped. */
  node_types: z.array(z.string().min(1)).min(1).default(['validator']),
});

/** `{ConfigDir}/{chain_profile_id}/profile.yaml`: what a chain is. */
export const chainProfileSchema = z.strictObject({
  chain_profile_id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/),
  node_types: z.array(z.string().min(1)).min(1),
  binaries: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        artifact_kind: z.enum(['file', 'image']).default('file'),
        /** Versions whose checksum is known, so that a running fleet gets names at join (B2). */
        known_versions: z
          .array(z.strictObject({ version: z.string().min(1), checksum: checksumSchema, url: z.string().optional() }))
          .default([]),
      }),
    )
    .min(1),
  /** Variables of the chain's templates; a node's own win over them. */
  variables: z.record(z.string(), z.string()).default({}),
  /** Variables whose values no plan shows, beside those whose names say so (`password`, `token`, `private_key` …). */
  secret_variables: z.array(z.string().min(1)).default([]),
  /** The canaries of a breaking migration must be approved by somebody else than the rollout's creator. */
  two_person_approval: z.boolean().default(false),
  trust: chainTrustSchema.default({}),
  health: chainHealthSchema,
  /** What nodes must be free of before they are stopped. */
  duties: z.array(dutySchema).max(16).default([]),
  /** Left out: no quorum is guarded. */
  quorum: chainQuorumSchema.optional(),
});
export type ChainProfile = z.infer<typeof chainProfileSchema>;

const budget = z.number().int().positive().optional();

/** How a new binary is tried before its node is stopped; without it by `--version` (A10). */
const dryStartSchema = z.strictObject({
  args: z.array(z.string().max(200)).max(16),
  timeout_seconds: z.number().positive().max(60).default(10),
});

/** What a publisher's signature must prove before an artifact is installed. */
const signaturesSchema = z.strictObject({
  policy: z.enum(['required', 'off']),
  /** minisign keys in base64 and PEM public keys; one of them must have signed. */
  public_keys: z
    .array(
      z
        .string()
        .max(2000)
        .regex(
          /^(RW[A-Za-z0-9+/]{54}|-----BEGIN PUBLIC KEY-----[\s\S]+)\s*$/,
          'must be a minisign key (RW…, 56 characters) or a PEM public key',
        ),
    )
    .max(16)
    .default([]),
});

/** `{ConfigDir}/{chain_profile_id}/runtime.yaml`: how a chain's nodes are run and how long things may take. */
export const chainRuntimeSchema = z.strictObject({
  runtime: z.strictObject({ type: z.enum(['systemd', 'docker', 'process']) }),
  /** Seconds per action; what is left out has the specification's default. */
  budgets: z
    .strictObject({
      backup_seconds: budget,
      acquire_seconds: budget,
      verify_seconds: budget,
      stop_seconds: budget,
      install_seconds: budget,
      configs_seconds: budget,
      reload_seconds: budget,
      start_seconds: budget,
      /** Restarts that a start may use up inside `start_seconds`: CometBFT's `double_sign_check_height` exits until it is safe to sign. */
      tolerated_restarts: z.number().int().min(0).max(1000).optional(),
    })
    .default({}),
  /** Of a config that somebody edited on a host: which lines, or the diff itself, which may hold secrets (C12, E4). */
  show_config_drift: z.enum(['lines', 'diff']).default('lines'),
  dry_start: dryStartSchema.optional(),
  signatures: signaturesSchema.optional(),
  /** Steps of the vendor in every upgrade of the chain. */
  hooks: vendorHooksSchema,
  /** Where one binary of the chain differs from the others. */
  binaries: z
    .record(
      z.string().min(1),
      z.strictObject({
        dry_start: dryStartSchema.optional(),
        signatures: signaturesSchema.optional(),
        /** After those of the chain. */
        hooks: vendorHooksSchema,
      }),
    )
    .default({}),
});
export type ChainRuntime = z.infer<typeof chainRuntimeSchema>;
