import type { Database } from '../db/database.ts';
import { cursorFromNow, moveCursor } from '../events/event-cursor.ts';
import { listEvents } from '../events/event-read-model.ts';
import { EVENTS_PUBLISHED } from '../events/event-relay.ts';
import type { Reconciler } from '../feature.ts';
import { setDegradation } from '../telemetry/degradations.ts';
import { attemptHistory } from './attempt-history.ts';
import { attemptSpans } from './attempt-spans.ts';
import type { OtlpExporter } from './otlp-exporter.ts';

const CONSUMER = 'traces';
const BATCH = 200;

/**
 * Makes a trace of each attempt once it has ended, from what the rows remember, and brings it to an OTLP receiver: at least
 * once, from the moment this was switched on. The receiver being away delays nothing else (docs/decisions/0022).
 * @param open what OpenTelemetry needs is loaded at the first run, by the instance that exports alone
 */
export function traceExport(db: Database, open: () => Promise<Pick<OtlpExporter, 'export'>>): Reconciler {
  let exporter: Pick<OtlpExporter, 'export'> | null = null;
  return {
    name: 'trace-export',
    intervalMs: 2000,
    wokenBy: EVENTS_PUBLISHED,
    runs: 'leader',
    run: async () => {
      exporter ??= await open();
      try {
        const did = await exportBatch(db, exporter);
        setDegradation('traces', null);
        return did;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        setDegradation('traces', `what ended since waits until the receiver takes it (${why})`);
        throw error;
      }
    },
  };
}

async function exportBatch(db: Database, exporter: Pick<OtlpExporter, 'export'>): Promise<number> {
  const after = await cursorFromNow(db, CONSUMER);
  const { items, next_after: last } = await listEvents(db, { after, limit: BATCH });
  for (const event of items) {
    const attempt = await attemptHistory(db, event);
    if (attempt === null) continue;
    await exporter.export(attemptSpans(attempt));
    await moveCursor(db, CONSUMER, event.seq);
  }
  if (last > after) await moveCursor(db, CONSUMER, last);
  return items.length;
}
