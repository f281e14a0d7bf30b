import type { ApprovalView } from '@hoodcloud/contracts/http/approvals';
import { includesScope } from '@hoodcloud/contracts/http/scopes';
import { sql } from 'kysely';
import type { Identity } from '../auth/actor.ts';
import { isSamePerson } from '../auth/same-person.ts';
import type { Db } from '../db/database.ts';
import { storedReason, storedReasons } from '../http/reason-view.ts';
import { timestamp } from '../http/timestamps.ts';
import { groupEtag } from '../rollout-groups/group-etag.ts';
import { rolloutEtag } from '../rollouts/rollout-etag.ts';

interface WaitingRow {
  readonly subject_type: ApprovalView['subject_type'];
  readonly id: string;
  readonly chain_profile_id: string;
  readonly brings: string;
  readonly status: 'pending' | 'running' | 'paused';
  readonly status_reason: string | null;
  readonly status_reason_params: unknown;
  readonly waiting: unknown;
  readonly since: Date;
  readonly created_by: string;
  readonly two_person_approval: boolean;
}

/** What stands still until a person acts, what waits longest first; and whether this caller may act. */
export async function listApprovals(db: Db, caller: Identity): Promise<ApprovalView[]> {
  return Promise.all((await waitingRows(db)).map((row) => approvalView(db, row, caller)));
}

/**
 * A running rollout waits for an approval when its last answer says so: since its canaries ended, or since it was started,
 * before its first node. A component's pause is decided in its group, where the group is paused too.
 */
async function waitingRows(db: Db): Promise<readonly WaitingRow[]> {
  const { rows } = await sql<WaitingRow>`
    select * from (
      select 'rollout' as subject_type, r.id, r.chain_profile_id, r.binary_name || ' ' || r.target_version as brings,
             r.status, r.status_reason, r.status_reason_params, r.last_decision->'reasons' as waiting, r.created_by,
             r.two_person_approval
               or coalesce(r.last_decision @> '{"reasons": [{"code": "start_approval_needed"}]}', false) as two_person_approval,
             case when r.status <> 'running' then r.status_changed_at
                  else coalesce((select max(ended_at) from rollout_nodes where rollout_id = r.id and batch_index = 0),
                                r.status_changed_at) end as since
        from rollouts r
        left join rollout_groups g on g.id = r.group_id
       where (r.status = 'running' and r.last_decision @> any (array['{"reasons": [{"code": "waiting_for_approval"}]}',
                                                                     '{"reasons": [{"code": "start_approval_needed"}]}']::jsonb[]))
          or (r.status = 'paused' and g.status is distinct from 'paused')
          or (r.status = 'pending' and r.group_id is null)
      union all
      select 'rollout_group', g.id, g.chain_profile_id,
             (select string_agg(key || ' ' || value, ', ' order by key) from jsonb_each_text(g.desired_versions)),
             g.status, g.status_reason, g.status_reason_params, null, g.created_by, false, g.status_changed_at
        from rollout_groups g
       where g.status in ('paused', 'pending')
    ) waiting
     order by status = 'pending', since, id`.execute(db);
  return rows;
}

async function approvalView(db: Db, row: WaitingRow, caller: Identity): Promise<ApprovalView> {
  const { subject_type, id: subject_id, chain_profile_id, brings, created_by, two_person_approval } = row;
  const own = storedReason(row.status_reason, row.status_reason_params);
  return {
    subject_type,
    subject_id,
    chain_profile_id,
    brings,
    needs: NEEDS[row.status],
    reasons: row.status === 'running' ? storedReasons(row.waiting) : own === null ? [] : [own],
    since: timestamp(row.since),
    created_by,
    two_person_approval,
    refusal: await refusalOf(db, row, caller),
    etag: subject_type === 'rollout' ? await rolloutEtag(db, subject_id) : await groupEtag(db, subject_id),
  };
}

const NEEDS = { running: 'approve', paused: 'decide', pending: 'start' } as const;

async function refusalOf(db: Db, row: WaitingRow, { actor, scopes }: Identity): Promise<string | null> {
  if (!includesScope(scopes, 'operate')) return `${actor} may only look: it takes the scope operate.`;
  if (row.status !== 'running' || !row.two_person_approval) return null;
  if (!(await isSamePerson(db, row.created_by, actor))) return null;
  return `Two persons are needed: ${row.created_by} created the rollout, and ${actor} is no second person.`;
}
