import type { ReasonView } from '@hoodcloud/contracts/http/common';
import type { INCIDENT_STATUSES } from '@hoodcloud/contracts/http/incidents';
import type { SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import type { NodeState } from '@hoodcloud/domain/node-state';
import type { NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import type { RolloutGroupStatus } from '@hoodcloud/domain/rollout-group-status';

type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet';
type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** Every status that has a mark; the word is always beside the colour. */
const TONES: Readonly<
  Record<
    | SavedPlanView['state']
    | RolloutGroupStatus
    | NodeUpgradeStatus
    | NodeState
    | IncidentStatus
    | ReasonView['severity'],
    Tone
  >
> = {
  pending: 'quiet',
  running: 'busy',
  paused: 'warn',
  completed: 'good',
  failed: 'bad',
  canceled: 'quiet',
  rolled_back: 'warn',
  partial: 'warn',
  in_progress: 'busy',
  validating: 'busy',
  succeeded: 'good',
  skipped: 'quiet',
  provisioning: 'quiet',
  syncing: 'busy',
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
  maintenance: 'busy',
  terminating: 'quiet',
  terminated: 'quiet',
  saved: 'busy',
  started: 'good',
  expired: 'quiet',
  open: 'bad',
  acknowledged: 'warn',
  resolved: 'good',
  info: 'quiet',
  warning: 'warn',
  critical: 'bad',
};

/** A status as a word with a mark before it. */
export function StatusMark({ status, text }: { readonly status: string; readonly text?: string }) {
  return (
    <span className="status" data-tone={TONES[status as keyof typeof TONES] ?? 'quiet'}>
      {text ?? status.replaceAll('_', ' ')}
    </span>
  );
}
