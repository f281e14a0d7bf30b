import type { RolloutBatchesView, RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import { batchCountsText, batchRangeName } from '@hoodcloud/contracts/http/view-text';
import { Text } from '@mantine/core';

type Range = RolloutBatchesView['items'][number];

/** A batch with more nodes is drawn as a bar: single nodes would be too small to see. */
const MOST_CELLS = 60;

/** Every batch in its order: each node a square, or a bar of shares, with the same in words; batches alike in one line. */
export function BatchPicture({
  rollout,
  batches,
}: {
  readonly rollout: RolloutView;
  readonly batches: RolloutBatchesView;
}) {
  if (batches.items.length === 0) return <Text c="dimmed">The nodes are chosen when the rollout starts.</Text>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <ul className="batches" tabIndex={0} aria-label="Batches">
      {batches.items.map((range) => (
        <li key={range.first_batch} className="batch">
          <span>{batchRangeName(rollout, range)}</span>
          <div>
            {range.nodes > MOST_CELLS ? <Bar range={range} /> : <Cells range={range} />}
            <div className="batch-text">{batchCountsText(range)}</div>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Cells({ range }: { readonly range: Range }) {
  const cells = range.counts.flatMap(({ status, nodes }) =>
    Array.from({ length: nodes }, (_, index) => ({ key: `${status}-${index}`, status })),
  );
  return (
    <div className="batch-cells" aria-hidden>
      {cells.map(({ key, status }) => (
        <i key={key} data-node={status} />
      ))}
    </div>
  );
}

function Bar({ range }: { readonly range: Range }) {
  return (
    <div className="batch-bar" aria-hidden>
      {range.counts.map(({ status, nodes }) => (
        <div key={status} data-node={status} style={{ flexGrow: nodes }} />
      ))}
    </div>
  );
}
