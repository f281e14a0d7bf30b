import { REASONS, type ReasonCode, type ReasonSeverity } from '@hoodcloud/domain/reasons';
import { z } from 'zod';

/** RFC 3339 in UTC (C10c). */
export const timestampSchema = z.iso.datetime();

export const uuidSchema = z.uuid();

const severities = ['info', 'warning', 'critical'] as const satisfies readonly ReasonSeverity[];
export const severitySchema = z.enum(severities);

/** Why something is as it is (C11): a code for programs, a sentence for people. */
export const reasonSchema = z
  .object({
    code: z.enum(Object.keys(REASONS) as [ReasonCode, ...ReasonCode[]]),
    sentence: z.string(),
    severity: severitySchema,
    params: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: 'Reason' });
export type ReasonView = z.infer<typeof reasonSchema>;

/** Query of every list: pages follow a cursor that only the server understands (C10c). */
export const pageQuerySchema = z.object({
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
export type PageQuery = z.infer<typeof pageQuerySchema>;

/** One page of a list; `next_cursor` is null on the last one. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next_cursor: z.string().nullable() });
}
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

/** `?dry_run=true`: every check is made, nothing is changed. */
export const dryRunQuerySchema = z.object({
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
});

const UUID = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}';
/** Some of many, named in a query by their ids with commas between them: at most 100. */
export const idListSchema = z
  .string()
  .regex(new RegExp(`^${UUID}(,${UUID}){0,99}$`), 'ids with commas between them, at most 100')
  .transform((text) => text.split(','));

/** Why somebody does something; kept in the history beside who. */
export const whySchema = z.string().trim().min(1).max(1000);

export const idParamsSchema = z.object({ id: uuidSchema });
