import {
  artifactText,
  checksumsText,
  configText,
  estimateText,
  hooksText,
  scheduleText,
  shareText,
} from '@hoodcloud/contracts/http/plan-text';
import type { ConfigDiffView, RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderPairs } from '../output/table.ts';

/** What a plan means for scripts: broken rules, something to do, or nothing to do. */
export function planExitCode(plan: RolloutPlanView): ExitCode {
  if (plan.violations.length > 0) return EXIT.failed;
  return plan.batches.some(({ nodes }) => nodes.length > 0) ? EXIT.planWouldChange : EXIT.done;
}

/** A plan for people: what, who in which order, who not and why, what is wrong. */
export function renderPlan(plan: RolloutPlanView): string {
  return [head(plan), batches(plan), leftOut(plan), configs(plan), remarks(plan), violations(plan)]
    .filter((part) => part !== '')
    .join('\n');
}

function head(plan: RolloutPlanView): string {
  const sources = plan.sources.map(({ version, nodes }) => `${version ?? 'unknown'} (${count(nodes)})`).join(', ');
  const tier = plan.rollback_tier === null ? '' : `, rollback tier ${plan.rollback_tier}`;
  const vendor = hooksText(plan);
  const allowed = plan.failures_allowed === null ? 'no limit' : String(plan.failures_allowed);
  return renderPairs([
    ['Chain', plan.chain_profile_id],
    ['Upgrade', `${plan.binary_name ?? '?'} ${sources || 'nothing'} → ${plan.target_version ?? '?'}`],
    ['Artifact', plan.target_binary_url],
    ['Checksum', plan.target_binary_checksum],
    ...plan.artifact_checks.map((check) => [check.platform ?? 'Found', artifactText(check)] as const),
    ['State risk', `${plan.migration_type}${tier}`],
    ['Configs', plan.config_paths.length > 0 ? plan.config_paths.join(', ') : 'none changes'],
    ...(vendor === null ? [] : [["Vendor's steps", vendor] as const]),
    ['Failures borne', allowed],
    ['Duration', estimateText(plan)],
    ['First start', scheduleText(plan)],
    ['Down at once', plan.shares.length > 0 ? plan.shares.map(shareText).join('; ') : 'nothing'],
  ]);
}

function batches({ batches }: RolloutPlanView): string {
  return batches
    .map(({ index, canary, of, nodes }) => {
      const names = nodes.map((node) => (node.online ? node.node_name : `${node.node_name} (offline)`));
      return `Batch ${index}${canary ? ' (canary)' : ''}${of === null ? '' : ` [${of}]`}: ${names.join(', ')}\n`;
    })
    .join('');
}

function leftOut({ ineligible }: RolloutPlanView): string {
  return ineligible.map(({ node_name, reason }) => `Left out: ${node_name}: ${reason.sentence}\n`).join('');
}

/** Every file with its diff, as `git diff` shows it; unchanged files in one line. */
function configs({ config_diffs }: RolloutPlanView): string {
  return config_diffs.map(configDiff).join('');
}

function configDiff(view: ConfigDiffView): string {
  const details = [view.remark, view.diff === null ? checksumsText(view) : null, view.diff?.trimEnd() ?? null];
  const lines = details.flatMap((detail) => detail?.split('\n') ?? []);
  return [`${configText(view)}\n`, ...lines.map((line) => `  ${line}\n`)].join('');
}

function remarks({ warnings }: RolloutPlanView): string {
  return warnings.map((warning) => `Note: ${warning}\n`).join('');
}

function violations({ violations }: RolloutPlanView): string {
  if (violations.length === 0) return '';
  const lines = violations.map(({ code, message }) => `  - ${message} (${code})\n`);
  return `✗ It can't be created like this:\n${lines.join('')}`;
}

const count = (nodes: number): string => (nodes === 1 ? '1 node' : `${nodes} nodes`);
