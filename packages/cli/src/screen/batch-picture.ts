import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';

/** One letter each, so that the picture says the same without colours. */
function markOf({ status }: RolloutNodeView): string {
  if (status === 'succeeded') return '█';
  if (status === 'skipped') return '-';
  if (isInFlight(status)) return '▶';
  return status === 'pending' ? '·' : '✗';
}

/** What the marks mean. */
export const PICTURE_LEGEND = '█ succeeded  ▶ in flight  · waits  ✗ failed or undone  - left out';

/** A batch's nodes as marks; of a large one each mark stands for several, the worst of them. */
function marksOf(nodes: readonly RolloutNodeView[], most: number): string {
  const marks = nodes.map(markOf);
  if (marks.length <= most) return marks.join('');
  const rank = ['✗', '▶', '·', '-', '█'];
  const per = Math.ceil(marks.length / most);
  const groups = Array.from({ length: Math.ceil(marks.length / per) }, (_, at) =>
    marks.slice(at * per, (at + 1) * per),
  );
  return groups.map((group) => rank.find((mark) => group.includes(mark)) ?? '·').join('');
}

/**
 * The batches in one line, `[canary █] [1 █▶·]`: those around the first that has not ended, when there are more than fit.
 * @param nameOf what a batch is called
 */
export function batchPicture(
  nodes: readonly RolloutNodeView[],
  nameOf: (batch: number) => string,
  width: number,
): string {
  const batches = new Map<number, RolloutNodeView[]>();
  for (const node of nodes) {
    if (node.batch_index < 0) continue;
    const batch = batches.get(node.batch_index);
    if (batch) batch.push(node);
    else batches.set(node.batch_index, [node]);
  }
  const most = Math.max(4, Math.min(24, Math.floor(width / 4)));
  const drawn = [...batches].sort(([a], [b]) => a - b);
  const open = drawn.findIndex(([, rows]) => rows.some(({ status }) => status === 'pending' || isInFlight(status)));
  const from = Math.max(0, (open < 0 ? drawn.length : open) - 1);
  let text = from > 0 ? `${from} before … ` : '';
  for (const [at, [batch, rows]] of drawn.slice(from).entries()) {
    const next = `[${nameOf(batch)} ${marksOf(rows, most)}] `;
    const rest = drawn.length - from - at;
    if (text.length + next.length + 12 > width) return `${text}… ${rest} more`;
    text += next;
  }
  return text.trimEnd();
}
