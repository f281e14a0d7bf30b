import { DEFAULT_HEALTH_POLICY, type HealthInput, type HealthPolicy } from '@hoodcloud/domain/health-input';
import { type HealthVerdict, judgeHealth } from '@hoodcloud/domain/health-verdict';
import { type Reason, reason, sentenceOf } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { completeActivity } from '../engine/engine-outbox.ts';
import type { Reconciler, Services } from '../feature.ts';
import { storableJson } from '../gateway/storable-json.ts';
import { openIncident } from '../incidents/open-incident.ts';
import type { ChainJudges, KnownChain } from './chain-judges.ts';
import { maxBlockIntervalMs } from './heartbeat-ingest.ts';
import { loadOpenValidations, type OpenValidation } from './open-validations.ts';

const ACTOR = 'system:health-validation';
const MOST_PER_RUN = 2_000;

/**
 * Judges every open proof of health in one query a tick and completes the waiting activities (B4a), so that a killed
 * worker fails no healthy node. While a proof is open its row says what is still missing.
 */
export function healthValidation({ db, log }: Services, judges: ChainJudges): Reconciler {
  return {
    name: 'health-validation',
    intervalMs: 1_000,
    wokenBy: null,
    runs: 'leader',
    run: async (now) => {
      const open = await loadOpenValidations(db, MOST_PER_RUN);
      const waiting: { id: string; reasons: readonly Reason[] }[] = [];
      let ended = 0;
      for (const validation of open) {
        const input = inputOf(validation, await judges.of(validation.chainProfileId), now);
        const verdict = judgeHealth(input);
        if (verdict.kind === 'wait') {
          waiting.push({ id: validation.id, reasons: verdict.reasons });
          continue;
        }
        if (!(await endValidation(db, validation, verdict, input))) continue;
        ended += 1;
        const sentences = verdict.kind === 'failed' ? verdict.reasons.map(sentenceOf) : [];
        log.info(
          { validation_id: validation.id, node_id: validation.nodeId, verdict: verdict.kind, reasons: sentences },
          `health of ${validation.nodeName}: ${verdict.kind}`,
        );
      }
      await keepReasons(db, waiting);
      return ended;
    },
  };
}

/** What the chain asks of a validation beyond the defaults. */
export function policyOf(validation: Pick<OpenValidation, 'healthWaitMs'>, chain: KnownChain | null): HealthPolicy {
  const base = { ...DEFAULT_HEALTH_POLICY, waitMs: validation.healthWaitMs };
  if (!chain) return base;
  const { health } = chain;
  return {
    ...base,
    minStableMs: health.stable_seconds * 1000,
    maxRestarts: health.max_restarts,
    judgesApplication: true,
    judgesSync: true,
    judgesReady: health.ready_expression !== undefined,
  };
}

function inputOf(validation: OpenValidation, chain: KnownChain | null, now: Date): HealthInput {
  return {
    now: now.getTime(),
    commandEndedAt: validation.since,
    sessionId: validation.sessionId,
    expectedSha256: validation.expectedChecksum || null,
    nodeState: validation.nodeState,
    restartsAtStart: validation.restartsAtStart,
    readings: validation.readings,
    chain: {
      chainProfileId: validation.chainProfileId,
      bestHeight: validation.bestHeight,
      heightGrewAt: validation.heightGrewAt,
      maxBlockIntervalMs: maxBlockIntervalMs(chain),
    },
    policy: policyOf(validation, chain),
  };
}

/** Ends the row and tells the engine in one transaction. @returns false when another instance was first */
async function endValidation(
  db: Database,
  validation: OpenValidation,
  verdict: Exclude<HealthVerdict, { kind: 'wait' }>,
  input: HealthInput,
): Promise<boolean> {
  const reasons = verdict.kind === 'failed' ? verdict.reasons : [reason('health_passed')];
  return db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('health_validations')
      .set({
        status: verdict.kind === 'healthy' ? 'passed' : 'failed',
        reasons: json(reasons),
        ended_at: sql<Date>`clock_timestamp()`,
      })
      .where('id', '=', validation.id)
      .where('status', '=', 'open')
      .returning('id')
      .executeTakeFirst();
    if (!row) return false;
    if (verdict.kind === 'failed' && showsLife(input)) await tellStalled(tx, validation, reasons);
    await completeActivity(tx, validation.workflowId, validation.id);
    return true;
  });
}

/** The time is over, the node is not proved, yet its process lives: nothing crashed, it is stuck (spec "upgrade_stalled"). */
export function showsLife({ readings, commandEndedAt, sessionId, policy, now }: HealthInput): boolean {
  if (now < commandEndedAt + policy.waitMs) return false;
  return readings
    .filter((reading) => reading.receivedAt > commandEndedAt && reading.sessionId === sessionId)
    .slice(-1)
    .some((last) => last.active && last.mainPid !== null);
}

async function tellStalled(tx: Db, validation: OpenValidation, reasons: readonly Reason[]): Promise<void> {
  const why = reasons.map(sentenceOf).join(' ');
  await openIncident(tx, {
    category: 'upgrade_stalled',
    severity: 'warning',
    nodeId: validation.nodeId,
    rolloutId: validation.rolloutId,
    dedupeKey: `upgrade_stalled:${validation.attemptId}`,
    summary: `${validation.nodeName} runs the new version but did not prove healthy in time. ${why}`,
    reason: reasons[0] ?? reason('health_failed', { error: why }),
    actor: ACTOR,
    details: { attempt_id: validation.attemptId, reasons },
  });
}

/** Notes what is still missing, for "why does it wait"; rows that say so already are not written. */
async function keepReasons(db: Db, waiting: readonly { id: string; reasons: readonly Reason[] }[]): Promise<void> {
  if (waiting.length === 0) return;
  await sql`
    update health_validations v set reasons = w.reasons
      from jsonb_to_recordset(${storableJson(waiting)}::jsonb) as w(id uuid, reasons jsonb)
     where v.id = w.id and v.status = 'open' and v.reasons <> w.reasons`.execute(db);
}
