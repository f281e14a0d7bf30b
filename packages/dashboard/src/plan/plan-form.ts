import type { ManifestView } from '@hoodcloud/contracts/http/chains';
import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import type { RolloutStrategyName } from '@hoodcloud/domain/rollout-strategy-name';

/** What is typed and chosen; numbers are texts until they are sent. */
export interface PlanForm {
  readonly chain: string | null;
  readonly upgrade: string | null;
  readonly strategy: RolloutStrategyName;
  readonly batchSize: string;
  readonly canarySize: string;
  /** Per cent. */
  readonly threshold: string;
  readonly maxInFlight: string;
  /** Seconds; empty: what the chain's profile says. */
  readonly healthWait: string;
  /** By the browser's clock, `2026-12-05T22:00`; empty: at once. */
  readonly startAt: string;
  readonly offline: 'skip' | 'wait';
  /** Null: what the manifest says. */
  readonly drift: 'fail' | 'overwrite' | null;
  readonly late: 'ignore' | 'include';
  readonly retryFailed: boolean;
  readonly forceContinue: boolean;
  readonly skipValidation: boolean;
  readonly acknowledgeStateRisk: boolean;
}

export const EMPTY_FORM: PlanForm = {
  chain: null,
  upgrade: null,
  strategy: 'rolling',
  batchSize: '1',
  canarySize: '1',
  threshold: '0',
  maxInFlight: '',
  healthWait: '',
  startAt: '',
  offline: 'skip',
  drift: null,
  late: 'ignore',
  retryFailed: false,
  forceContinue: false,
  skipValidation: false,
  acknowledgeStateRisk: false,
};

/** By the API's name of the field: what is wrong with it. */
export type FieldProblems = Readonly<Record<string, string>>;

interface NumberField {
  readonly field: string;
  readonly text: string;
  readonly least: number;
  readonly most?: number;
  readonly whole: boolean;
  readonly optional?: boolean;
}

function numbersOf(form: PlanForm): NumberField[] {
  return [
    ...(form.strategy === 'all_at_once' ? [] : [whole('batch_size', form.batchSize)]),
    ...(form.strategy === 'canary' ? [whole('canary_size', form.canarySize)] : []),
    { field: 'failure_threshold', text: form.threshold, least: 0, most: 100, whole: false },
    { ...whole('max_in_flight', form.maxInFlight), optional: true },
    { field: 'health_wait_ms', text: form.healthWait, least: 0, most: 86_400, whole: false, optional: true },
  ];
}

const whole = (field: string, text: string): NumberField => ({ field, text, least: 1, whole: true });

/** What must be put right before the control plane can be asked; the rules themselves are the server's. */
export function formProblems(form: PlanForm): FieldProblems {
  const problems: Record<string, string> = {};
  if (form.chain === null) problems.chain_profile_id = 'Choose a chain.';
  else if (form.upgrade === null) problems.upgrade_id = 'Choose an upgrade.';
  for (const { field, text, least, most, whole: isWhole, optional = false } of numbersOf(form)) {
    if (text.trim() === '' && optional) continue;
    const value = Number(text.trim() === '' ? Number.NaN : text);
    const fits = value >= least && value <= (most ?? 100_000) && (!isWhole || Number.isInteger(value));
    if (!fits) problems[field] = `It must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most ?? 100_000}.`;
  }
  return problems;
}

/** The request of a form without problems. */
export function requestOf(form: PlanForm, manifest: ManifestView): CreateRolloutInput {
  const number = (text: string) => (text.trim() === '' ? undefined : Number(text));
  const wait = number(form.healthWait);
  const inFlight = number(form.maxInFlight);
  return {
    chain_profile_id: manifest.chain_profile_id,
    node_type: manifest.upgrade?.node_type ?? '',
    upgrade_id: manifest.upgrade_id,
    strategy: form.strategy,
    ...(form.strategy !== 'all_at_once' && { batch_size: Number(form.batchSize) }),
    ...(form.strategy === 'canary' && { canary_size: Number(form.canarySize) }),
    failure_threshold: Number(form.threshold) / 100,
    ...(inFlight !== undefined && { max_in_flight: inFlight }),
    ...(wait !== undefined && { health_wait_ms: Math.round(wait * 1000) }),
    ...(form.startAt !== '' && { start_at: new Date(form.startAt).toISOString() }),
    offline_policy: form.offline,
    ...(form.drift !== null && { drift_policy: form.drift }),
    late_nodes: form.late,
    retry_failed: form.retryFailed,
    force_continue: form.forceContinue,
    skip_validation: form.skipValidation,
    acknowledge_state_risk: form.acknowledgeStateRisk,
  };
}

/** Fields that the form has: what the server says of another one is told beside the form. */
const FIELDS = [
  'chain_profile_id',
  'upgrade_id',
  'strategy',
  'batch_size',
  'canary_size',
  'failure_threshold',
  'max_in_flight',
  'health_wait_ms',
  'start_at',
  'offline_policy',
  'late_nodes',
  'drift_policy',
  'acknowledge_state_risk',
];

/** Tells each thing that the server found where it is put right; what belongs to no field is left over. */
export function fieldProblems(errors: readonly FieldError[]): { fields: FieldProblems; rest: string[] } {
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const { field, message } of errors) {
    const name = field.replace(/^body\.(request\.)?/, '');
    if (!FIELDS.includes(name)) rest.push(message);
    else fields[name] = fields[name] === undefined ? message : `${fields[name]} ${message}`;
  }
  return { fields, rest };
}
