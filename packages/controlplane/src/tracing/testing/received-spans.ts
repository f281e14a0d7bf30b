import { z } from 'zod';

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]])));

/** What is posted to `/v1/traces` as JSON (OTLP 1.x), as far as tests look at it. */
const request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
              attributes,
              status: z.object({ code: z.number(), message: z.string().optional() }),
            }),
          ),
        }),
      ),
    }),
  ),
});

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly service: string;
  readonly name: string;
  /** ns since 1970 */
  readonly start: bigint;
  readonly end: bigint;
  readonly error: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The spans that an OTLP receiver was sent. @throws when a request has not the form of the protocol */
export function receivedSpans(requests: readonly { readonly body: string }[]): ReceivedSpan[] {
  return requests
    .flatMap(({ body }) => request.parse(JSON.parse(body)).resourceSpans)
    .flatMap(({ resource, scopeSpans }) =>
      scopeSpans
        .flatMap(({ spans }) => spans)
        .map((span) => ({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId,
          service: String(resource.attributes['service.name']),
          name: span.name,
          start: BigInt(span.startTimeUnixNano),
          end: BigInt(span.endTimeUnixNano),
          error: span.status.code === 2 ? (span.status.message ?? '') : null,
          attributes: span.attributes,
        })),
    );
}
