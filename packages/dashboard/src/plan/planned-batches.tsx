import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import { Text } from '@mantine/core';
import { type PlannedRange, plannedRanges } from './batch-ranges.ts';

/** A batch with more nodes is drawn as a bar. */
const MOST_CELLS = 60;
/** Nobody reads more names in a row. */
const MOST_NAMES = 40;

/** The batches that a plan has, in their order: each node a square, and its name. */
export function PlannedBatches({ plan }: { readonly plan: RolloutPlanView }) {
  if (plan.batches.length === 0) return <Text c="dimmed">No node would be upgraded.</Text>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <ul className="batches" tabIndex={0} aria-label="Planned batches">
      {plannedRanges(plan.batches).map((range) => (
        <li key={range.first} className="batch">
          <span>{nameOf(range)}</span>
          <div>
            <div className="batch-cells" aria-hidden>
              {range.nodes > MOST_CELLS ? null : cellsOf(range)}
            </div>
            <div className="batch-text">{textOf(range)}</div>
          </div>
        </li>
      ))}
    </ul>
  );
}

function cellsOf({ first, nodes }: PlannedRange) {
  return Array.from({ length: nodes }, (_, index) => ({ key: `${first}-${index}` })).map(({ key }) => (
    <i key={key} data-node="pending" />
  ));
}

function nameOf({ first, last, canary }: PlannedRange): string {
  if (canary) return 'canary';
  return first === last ? `batch ${first}` : `batches ${first}–${last}`;
}

function textOf({ first, last, of, nodes, names }: PlannedRange): string {
  const each = `${of === null ? '' : `${of}: `}${first === last ? '' : `${nodes} each: `}`;
  const rest = names.length - MOST_NAMES;
  return `${each}${names.slice(0, MOST_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
