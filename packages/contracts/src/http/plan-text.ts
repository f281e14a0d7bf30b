import { renderDuration } from '@hoodcloud/domain/duration-text';
import type {
  ConfigDiffView,
  PlanHookView,
  PlannedArtifactView,
  PlanShareView,
  RolloutPlanView,
} from './rollout-plan.ts';

/** How many names are written out before the rest is counted. */
const MOST_NAMES = 5;

/** What the control plane found at an artifact's address, e.g. `92.4 MB, reachable from here`. */
export function artifactText({ state, size_bytes: size, remark }: PlannedArtifactView): string {
  if (state !== 'reachable') return remark ?? 'not asked for';
  const found = size === null ? 'reachable from here' : `${bytesText(size)}, reachable from here`;
  return remark === null ? found : `${found}. ${remark}`;
}

/** How long it will take, judged by earlier rollouts. */
export function estimateText({ estimate }: Pick<RolloutPlanView, 'estimate'>): string {
  const { past_upgrades: past, node_ms, downtime_ms, rollout_ms } = estimate;
  if (node_ms === null || rollout_ms === null) return 'not known: no past rollouts of this binary on this chain';
  const down = downtime_ms === null ? '' : `, ${renderDowntime(downtime_ms)} of it down`;
  const from = past === 1 ? 'the one past upgrade' : `the median of ${past} past upgrades`;
  return `about ${renderDuration(rollout_ms)} in all, ${renderDuration(node_ms)} a node${down} (by ${from})`;
}

/** How much is down at once at the most, e.g. `zone eu: 2 of 5 nodes (40 %) in batch 1`. */
export function shareText({ measure, zone, batch_index, down, total }: PlanShareView): string {
  const share = total === 0 ? 0 : Math.round((100 * down) / total);
  if (measure === 'power') return `voting power: ${down} of ${total} (${share} %) in batch ${batch_index}`;
  return `${zone === null ? 'all' : `zone ${zone}`}: ${down} of ${total} nodes (${share} %) in batch ${batch_index}`;
}

/** When the first node would start, e.g. `at once`, or the time and what holds it until then. */
export function scheduleText({ schedule }: Pick<RolloutPlanView, 'schedule'>): string {
  if (schedule === undefined) return 'not known';
  const { first_start_at: at, holds } = schedule;
  const why = holds.map(({ sentence, nodes }) => `${sentence} (${nodes === 1 ? '1 node' : `${nodes} nodes`})`);
  const when = at === null ? 'never: its windows are not open together' : at;
  if (why.length === 0) return at === null ? 'nothing starts' : 'at once';
  return `${when}. Now: ${why.join(' ')}`;
}

/** What becomes of a config file and where, e.g. `/etc/c.toml changes on val-1, val-2`. */
export function configText({ path, change, nodes, edited_on_host: edited }: ConfigDiffView): string {
  const what = { changed: 'changes', unchanged: 'stays as it is', unseen: 'is written' }[change];
  return `${path} ${what} on ${namesText(nodes.map((node) => node.node_name))}${edited ? ' (edited on the host)' : ''}`;
}

/** The hashes of a file that can't be shown line by line; null when there are none to show. */
export function checksumsText({ current_checksum: now, planned_checksum: planned }: ConfigDiffView): string | null {
  if (planned === null) return null;
  return `now ${now ?? 'not known'}, planned ${planned}`;
}

function namesText(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  return rest > 0 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${rest} more` : names.join(', ');
}

/** Downtimes are short: tenths of a second below ten. */
function renderDowntime(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : renderDuration(ms);
}

function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ['KB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** What a start of the plan does, for who is about to order it. */
export function startConsequence(plan: RolloutPlanView): string {
  const nodes = plan.batches.reduce((sum, batch) => sum + batch.nodes.length, 0);
  const [first] = plan.batches;
  const batches = plan.batches.length === 1 ? 'all in one batch' : `in ${plan.batches.length} batches`;
  const sentences = [
    `${nodes === 1 ? '1 node' : `${nodes} nodes`} of ${plan.chain_profile_id} get ${plan.binary_name} ${plan.target_version}, ${batches}; each is stopped for a while.`,
    first?.canary ? `The canaries go first: ${namesText(first.nodes.map(({ node_name }) => node_name))}.` : '',
    plan.estimate.rollout_ms === null ? '' : `It takes ${estimateText(plan)}.`,
    plan.migration_type === 'breaking'
      ? "The chain's data may not go back: after the canaries somebody must approve."
      : '',
    plan.ineligible.length === 0 ? '' : `${plan.ineligible.length} are left out.`,
    `${beginText(plan)} and can be paused at any time.`,
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function beginText({ schedule }: RolloutPlanView): string {
  if (schedule === undefined || schedule.holds.length === 0) return 'It begins at once';
  return schedule.first_start_at === null
    ? 'It waits'
    : `Its first node starts at ${schedule.first_start_at}; it waits until then`;
}

const HOOK_PLACES: Readonly<Record<PlanHookView['at'], string>> = {
  before_stop: 'before the stop',
  duty: 'right before the stop, until the node is free',
  after_install: 'after the install, before the start',
  after_health: 'after the proof of health',
  on_error: 'after a failure, before the undo',
};

/** `db-compact after the install, before the start: {binary} db compact (at most 60 s; nothing undoes it)`; null for none. */
export function hooksText({ hooks = [] }: Pick<RolloutPlanView, 'hooks'>): string | null {
  if (hooks.length === 0) return null;
  return hooks
    .map(({ name, at, command, timeout_ms, undo, ask_again }) => {
      const called = `${name} ${HOOK_PLACES[at]}: ${command.join(' ')}`;
      if (ask_again) return `${called} (exit status ${askAgainText(ask_again)})`;
      const back = undo === null ? 'nothing undoes it' : `undone by ${undo.join(' ')}`;
      return `${called} (at most ${timeout_ms / 1000} s; ${back})`;
    })
    .join('; ');
}

function askAgainText({ exit_codes, longest_wait_ms }: NonNullable<PlanHookView['ask_again']>): string {
  return `${exit_codes.join(', ')} asks again, for at most ${longest_wait_ms / 1000} s`;
}
