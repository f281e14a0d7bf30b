import { z } from 'zod';

/** One thing that is wrong with a request: the field it is about and what to do. */
export const fieldErrorSchema = z.object({
  /** Where in the request, e.g. `body.batch_size`; empty when it is about the whole. */
  field: z.string(),
  code: z.string(),
  message: z.string(),
  /** Number of the creation-time rule that is broken (spec "Creation-Time Rules"). */
  rule: z.union([z.number().int(), z.string()]).optional(),
});
export type FieldError = z.infer<typeof fieldErrorSchema>;

/** Error body of every endpoint (RFC 9457, C10c). `code` is stable; `detail` is a sentence for people. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    instance: z.string().optional(),
    errors: z.array(fieldErrorSchema).optional(),
    /** What a program needs to act on, e.g. the id of the other active rollout. */
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problemSchema>;

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';
