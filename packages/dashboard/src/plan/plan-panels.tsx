import { artifactText, estimateText, hooksText, scheduleText, shareText } from '@hoodcloud/contracts/http/plan-text';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { ReactNode } from 'react';
import { Facts } from '../components/facts.tsx';
import { Panel } from '../components/panel.tsx';
import { ConfigDiffs } from './config-diffs.tsx';
import './plan.css';
import { PlannedBatches } from './planned-batches.tsx';
import { Sentences } from './sentences.tsx';

/** A plan: what is wrong and what is dangerous first, then what would happen. */
export function PlanPanels({ plan }: { readonly plan: RolloutPlanView }) {
  return (
    <>
      <Sentences
        title="It can’t be created like this"
        severity="critical"
        of={plan.violations.map(({ message }) => message)}
      />
      <Sentences title="Warnings" severity="warning" of={plan.warnings} />
      <Panel title="What would happen">
        <Facts of={factsOf(plan)} />
      </Panel>
      <Panel title="Batches">
        <PlannedBatches plan={plan} />
      </Panel>
      {plan.ineligible.length > 0 && (
        <Panel title={`Left out: ${plan.ineligible.length}`}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
          <ul className="plan-list plan-scroll" tabIndex={0} aria-label="Nodes that are left out">
            {plan.ineligible.map(({ node_id, node_name, reason }) => (
              <li key={node_id}>
                <b>{node_name}</b>: {reason.sentence}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Config files">
        <ConfigDiffs diffs={plan.config_diffs} />
      </Panel>
    </>
  );
}

function factsOf(plan: RolloutPlanView): [string, ReactNode][] {
  const sources = plan.sources.map(({ version, nodes }) => `${version ?? 'unknown'} (${nodes})`).join(', ');
  const artifacts = plan.artifact_checks.map(({ platform, url, ...check }): [string, ReactNode] => [
    platform === null ? 'Artifact' : `Artifact for ${platform}`,
    <>
      <span className="mono">{url}</span>
      <br />
      {artifactText({ platform, url, ...check })}
      <br />
      <span className="mono">{check.checksum}</span>
    </>,
  ]);
  const vendor = hooksText(plan);
  return [
    ['Upgrade', `${plan.binary_name ?? '?'} ${sources || 'nothing'} → ${plan.target_version ?? '?'}`],
    ...artifacts,
    ['Migration', `${plan.migration_type}, rollback tier ${plan.rollback_tier}`],
    ['Duration', estimateText(plan)],
    ['First start', scheduleText(plan)],
    ['Down at once', plan.shares.map(shareText).join('; ')],
    ...(vendor === null ? [] : [["Vendor's steps", vendor] as [string, ReactNode]]),
    ['Failures borne', plan.failures_allowed === null ? 'no limit' : String(plan.failures_allowed)],
  ];
}
