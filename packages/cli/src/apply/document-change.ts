import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ChainView } from '@hoodcloud/contracts/http/chains';
import type { PolicyView, PutPolicyInput } from '@hoodcloud/contracts/http/policies';
import type { RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import type { AppliedDocument } from '@hoodcloud/contracts/policies/applied-document';
import { allPages } from '../api/all-pages.ts';
import type { ApiClient } from '../api/api-client.ts';
import { type FieldDifference, fieldDifferences } from './field-differences.ts';

/** What a document asks for beside what is. */
export interface DocumentChange {
  /** `freeze/payout`. */
  readonly what: string;
  /** `differs`: it can't be changed from here, only be shown. */
  readonly kind: 'create' | 'change' | 'unchanged' | 'delete' | 'differs';
  readonly differences: readonly FieldDifference[];
  /** What a person should know beside the fields. */
  readonly remark: string | null;
  /** Carries it out; nothing where there is nothing to do. */
  readonly carryOut: (query: { readonly dry_run?: boolean }) => Promise<unknown>;
}

const nothing = async () => undefined;

/** What is on the server at this moment. */
export interface Present {
  readonly api: ApiClient;
  readonly policies: readonly PolicyView[];
  /** Name of the source whose documents these are. */
  readonly managedBy: string;
}

/** What one document would change. */
export async function changeOf(document: AppliedDocument, present: Present): Promise<DocumentChange> {
  switch (document.kind) {
    case 'rollout':
      return rolloutChange(document, present);
    case 'chain':
      return chainChange(document, present);
    default:
      return policyChange(document, present);
  }
}

type PolicyDocument = Exclude<AppliedDocument, { kind: 'rollout' | 'chain' }>;

function policyChange({ kind, name, spec }: PolicyDocument, { api, policies, managedBy }: Present): DocumentChange {
  const body: PutPolicyInput = { spec, managed_by: managedBy };
  const carryOut = (query: { readonly dry_run?: boolean }) => api.put(PATHS.policy(kind, name), body, query);
  const what = `${kind}/${name}`;
  const now = policies.find((policy) => policy.kind === kind && policy.name === name);
  if (!now) return { what, kind: 'create', differences: fieldDifferences({}, spec), remark: null, carryOut };
  const differences = fieldDifferences(now.spec, JSON.parse(JSON.stringify(spec)));
  const owner =
    now.managed_by === managedBy ? null : `managed by ${now.managed_by ?? 'nobody (changed by hand)'} until now`;
  if (differences.length === 0 && owner === null) {
    return { what, kind: 'unchanged', differences, remark: null, carryOut: nothing };
  }
  const changed = `last changed ${now.updated_at} by ${now.updated_by}`;
  return { what, kind: 'change', differences, remark: owner === null ? changed : `${changed}; ${owner}`, carryOut };
}

/** A policy that this source applied once and names no more. */
export function deletionOf({ kind, name, spec }: PolicyView, { api }: Present): DocumentChange {
  return {
    what: `${kind}/${name}`,
    kind: 'delete',
    differences: fieldDifferences(spec, {}),
    remark: null,
    carryOut: ({ dry_run }) => (dry_run ? nothing() : api.delete(PATHS.policy(kind, name))),
  };
}

/** A rollout is created once under its name, and never started from here; what was created can't be changed. */
async function rolloutChange(
  { name, spec }: Extract<AppliedDocument, { kind: 'rollout' }>,
  { api }: Present,
): Promise<DocumentChange> {
  const what = `rollout/${name}`;
  const [known] = await allPages<RolloutView>(api, PATHS.rollouts, { name });
  if (!known) {
    const carryOut = (query: { readonly dry_run?: boolean }) => api.post(PATHS.rollouts, { ...spec, name }, query);
    const remark = `start it by hoodctl rollout start, after hoodctl rollout plan`;
    return { what, kind: 'create', differences: fieldDifferences({}, spec), remark, carryOut };
  }
  const asked = Object.fromEntries(Object.entries(spec).filter(([field]) => field in known));
  const differences = fieldDifferences(known, asked, 'wanted');
  const remark = `rollout ${known.id} is ${known.status}`;
  if (differences.length === 0) return { what, kind: 'unchanged', differences, remark, carryOut: nothing };
  const advice = `${remark}: what was created can't be changed; give the new one another name`;
  return { what, kind: 'differs', differences, remark: advice, carryOut: nothing };
}

/** Chains are files of the control plane's config folder: what is expected of them is compared, never written. */
async function chainChange(
  { name, spec }: Extract<AppliedDocument, { kind: 'chain' }>,
  { api }: Present,
): Promise<DocumentChange> {
  const chain = await api.get<ChainView>(PATHS.chain(name));
  const differences = fieldDifferences(chain, spec, 'wanted');
  const what = `chain/${name}`;
  if (differences.length === 0) return { what, kind: 'unchanged', differences, remark: null, carryOut: nothing };
  const remark = `its files stand in the config folder of the control plane (${name}/profile.yaml, runtime.yaml): change them there`;
  return { what, kind: 'differs', differences, remark, carryOut: nothing };
}
