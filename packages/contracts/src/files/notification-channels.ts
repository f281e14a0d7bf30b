import { z } from 'zod';
import { EVENT_KINDS } from '../events/event-kinds.ts';
import { severitySchema } from '../http/common.ts';

/** A secret is named, never written into the file: the environment variable or the file that holds it. */
const secretSchema = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  {
    error: 'must name where the secret is: { env: NAME } or { file: PATH }',
  },
);
export type SecretSource = z.infer<typeof secretSchema>;

const filter = {
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,49}$/, 'must be lower-case letters, digits and dashes, at most 50'),
  /**
   * Kinds of events, or `all`; left out: the specification's six, a rollout that waits for approval, and critical incidents.
   */
  events: z.union([z.literal('all'), z.array(z.enum(EVENT_KINDS)).min(1)]).optional(),
  /** Only events of these chains; left out: of every chain. */
  chains: z.array(z.string().min(1)).min(1).optional(),
  /** Only events that matter at least so much. */
  min_severity: severitySchema.default('info'),
  /** Failed tries of one message before it becomes a dead letter; their pauses grow from 2 s to 5 min. */
  max_attempts: z.number().int().min(1).max(1000).default(15),
};

const toPeople = { ...filter, max_per_minute: z.number().int().min(1).max(600).default(20) };

/** What a hook's address may be beyond the rule: https, to a public address. */
const hook = { allow_http: z.boolean().default(false), allow_private_addresses: z.boolean().default(false) };

const webhookSchema = z.strictObject({
  type: z.literal('webhook'),
  ...filter,
  ...hook,
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  /** Key of the signature: `whsec_` and base64 of 24 to 64 bytes (Standard Webhooks). */
  secret: secretSchema,
  /** Messages above it wait; a program gets every one of them. */
  max_per_minute: z.number().int().min(1).max(60_000).optional(),
});

const slackSchema = z.strictObject({
  type: z.literal('slack'),
  ...toPeople,
  ...hook,
  /** The whole address is the secret of such a hook. */
  url: secretSchema,
});

const emailSchema = z.strictObject({
  type: z.literal('email'),
  ...toPeople,
  from: z.string().min(3),
  to: z.array(z.string().min(3)).min(1),
  smtp: z.strictObject({
    host: z.string().min(1),
    port: z.number().int().min(1).max(65_535),
    /** `starttls` refuses a server that can't; `none` is for a relay on the same machine. */
    tls: z.enum(['implicit', 'starttls', 'none']).default('starttls'),
    user: z.string().optional(),
    password: secretSchema.optional(),
  }),
});

const channelSchema = z.discriminatedUnion('type', [webhookSchema, slackSchema, emailSchema]);
export type ChannelConfig = z.infer<typeof channelSchema>;
export type WebhookConfig = z.infer<typeof webhookSchema>;
export type SlackConfig = z.infer<typeof slackSchema>;
export type EmailConfig = z.infer<typeof emailSchema>;

/** The file that `HOODCLOUD_NOTIFICATIONS_FILE` names: who is told what, and how. */
export const notificationChannelsSchema = z.strictObject({
  channels: z.array(channelSchema).superRefine((channels, context) => {
    channels.forEach(({ name }, index) => {
      if (channels.findIndex((other) => other.name === name) === index) return;
      context.addIssue({ code: 'custom', path: [index, 'name'], message: 'two channels have this name' });
    });
  }),
});
