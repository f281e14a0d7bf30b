import type { EventData } from '@hoodcloud/contracts/events/event-data';
import type { EventKind, SubjectType } from '@hoodcloud/contracts/events/event-kinds';
import { REASONS, type Reason, type ReasonSeverity } from '@hoodcloud/domain/reasons';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';

export interface NewEvent<Kind extends EventKind> {
  readonly kind: Kind;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  readonly rolloutId?: string | null;
  readonly nodeId?: string | null;
  readonly reason?: Reason | null;
  /** Left out: that of the reason, or `info`. */
  readonly severity?: ReasonSeverity;
  /** Who did it: `user:<id>`, `key:<name>`, or `system:<part>`. */
  readonly actor: string;
  /** What its kind's schema says. */
  readonly data?: Readonly<EventData[Kind]>;
}

/** Appends to the history in the caller's transaction, so that a change and its event are stored together (C11). */
export async function appendEvent<Kind extends EventKind>(db: Db, event: NewEvent<Kind>): Promise<void> {
  await appendEvents(db, [event]);
}

/** The same for any number, in their order, by one statement. */
export async function appendEvents<Kind extends EventKind>(db: Db, events: readonly NewEvent<Kind>[]): Promise<void> {
  if (events.length === 0) return;
  await db.insertInto('events').values(events.map(rowOf)).execute();
}

function rowOf<Kind extends EventKind>(event: NewEvent<Kind>) {
  return {
    kind: event.kind,
    subject_type: event.subjectType,
    subject_id: event.subjectId,
    rollout_id: event.rolloutId ?? null,
    node_id: event.nodeId ?? null,
    reason: event.reason?.code ?? null,
    reason_params: json(event.reason?.params ?? {}),
    severity: event.severity ?? (event.reason ? REASONS[event.reason.code].severity : 'info'),
    actor: event.actor,
    data: json(event.data ?? {}),
  };
}
