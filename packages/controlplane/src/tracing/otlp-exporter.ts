import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { AttemptSpan, TracedService } from './attempt-spans.ts';

const KINDS: Readonly<Partial<Record<TracedService, SpanKind>>> = {
  'hoodcloud-api': SpanKind.SERVER,
  'hoodcloud-gateway': SpanKind.PRODUCER,
};

/** Brings spans that are over to an OTLP receiver. */
export class OtlpExporter {
  readonly #exporter: OTLPTraceExporter;
  readonly #recorder = new SpanRecorder();
  readonly #tracers = new Map<TracedService, Tracer>();

  /**
   * @param url where traces are posted; headers, timeout and compression are OpenTelemetry's own variables
   *   (`OTEL_EXPORTER_OTLP_HEADERS` and the like), read by its exporter
   */
  constructor(url: string) {
    this.#exporter = new OTLPTraceExporter({ url });
  }

  /** @throws when the receiver did not take them; it may have some, and knows them by their ids when they come again */
  async export(spans: readonly AttemptSpan[]): Promise<void> {
    const made = spans.map((span) => this.#recorder.record(this.#tracer(span.service), span));
    await new Promise<void>((resolve, reject) => {
      this.#exporter.export(made, ({ error, code }) => {
        if (code === 0) resolve();
        else reject(error ?? new Error('the receiver of traces did not take them'));
      });
    });
  }

  async close(): Promise<void> {
    await this.#exporter.shutdown();
  }

  /** Each program has a resource of its own, so that a map of services shows how they call one another. */
  #tracer(service: TracedService): Tracer {
    const known = this.#tracers.get(service);
    if (known) return known;
    const own = resourceFromAttributes({ 'service.name': service, 'service.namespace': 'hoodcloud' });
    const provider = new TracerProvider({
      resource: detectResources({ detectors: [envDetector] }).merge(own),
      idGenerator: this.#recorder,
      spanProcessors: [this.#recorder],
    });
    const tracer = provider.getTracer('hoodcloud-rollout');
    this.#tracers.set(service, tracer);
    return tracer;
  }
}

/** Makes spans under the ids they are given, where the SDK would draw ids. */
class SpanRecorder implements SpanProcessor {
  #next = { traceId: '', spanId: '' };
  #ended: ReadableSpan | null = null;

  record(tracer: Tracer, span: AttemptSpan): ReadableSpan {
    this.#next = span;
    const parent =
      span.parentId === null
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId: span.traceId,
            spanId: span.parentId,
            traceFlags: TraceFlags.SAMPLED,
            isRemote: true,
          });
    const kind = KINDS[span.service] ?? SpanKind.INTERNAL;
    const started = tracer.startSpan(
      span.name,
      { kind, startTime: span.start, attributes: { ...span.attributes } },
      parent,
    );
    if (span.error !== null) started.setStatus({ code: SpanStatusCode.ERROR, message: span.error });
    started.end(span.end);
    const ended = this.#ended;
    this.#ended = null;
    if (ended === null)
      throw new Error(`span ${span.name} was not recorded; OTEL_SDK_DISABLED or a sampler leaves it out`);
    return ended;
  }

  generateTraceId(): string {
    return this.#next.traceId;
  }

  generateSpanId(): string {
    return this.#next.spanId;
  }

  onStart(): void {
    // a span counts once it is over
  }

  onEnd(span: ReadableSpan): void {
    this.#ended = span;
  }

  async forceFlush(): Promise<void> {
    // nothing is kept back
  }

  async shutdown(): Promise<void> {
    // nothing is held open
  }
}
