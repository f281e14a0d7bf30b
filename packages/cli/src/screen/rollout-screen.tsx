import type { EventView } from '@hoodcloud/contracts/http/events';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { batchName, nextStep } from '@hoodcloud/contracts/http/view-text';
import { type ReactNode, useMemo, useSyncExternalStore } from 'react';
import { renderEvent } from '../watch/event-text.ts';
import { batchPicture, PICTURE_LEGEND } from './batch-picture.ts';
import { Screen, type ScreenParts } from './full-screen.tsx';
import type { RowWindow } from './row-window.ts';
import { columns, headOf, inOrder, line, nodeLine, progressLine, thresholdOf } from './screen-lines.ts';
import type { ScreenStore } from './screen-store.ts';

/** What the screen of a rollout shows. */
export interface RolloutScreenState {
  readonly rollout: RolloutDetail | null;
  readonly nodes: readonly RolloutNodeView[];
  /** The newest last. */
  readonly events: readonly EventView[];
  /** Why nothing new is heard; null while all is well. */
  readonly trouble: string | null;
  readonly now: Date;
}

const EVENTS_SHOWN = 6;
const WHY_SHOWN = 3;

interface RolloutScreenProps {
  readonly store: ScreenStore<RolloutScreenState>;
  readonly colours: boolean;
  readonly onLeave: () => void;
  /** Told which nodes are in sight, so that these are read anew. */
  readonly onSight?: (nodeIds: readonly string[]) => void;
  readonly size?: { readonly columns: number; readonly rows: number };
}

/** A rollout on the whole terminal: head, batches as a picture, threshold, why it waits, its nodes, the last events. */
export function RolloutScreen({ store, colours, onLeave, onSight, size }: RolloutScreenProps): ReactNode {
  const state = useSyncExternalStore(store.subscribe, store.get);
  const ordered = useMemo(() => inOrder(state.nodes), [state.nodes]);
  const sight = useMemo(
    () =>
      onSight &&
      (({ first, height }: RowWindow) =>
        onSight(
          inOrder(store.get().nodes)
            .slice(first, first + height)
            .map(({ node_id }) => node_id),
        )),
    [onSight, store],
  );
  return (
    <Screen
      partsOf={(width) => partsOf(state, ordered, width)}
      colours={colours}
      help={helpOf(state)}
      onLeave={onLeave}
      {...(sight && { onSight: sight })}
      {...(size && { size })}
    />
  );
}

function partsOf(state: RolloutScreenState, ordered: readonly RolloutNodeView[], width: number): ScreenParts {
  const { rollout, nodes, events, trouble, now } = state;
  if (rollout === null) return { head: [line(trouble ?? 'Reading the rollout …')], count: 0, rows: () => [], foot: [] };
  const next = nextStep(rollout.why);
  const head = [
    line(headOf(rollout, now), 'strong'),
    line(progressLine(rollout, nodes)),
    line(batchPicture(nodes, (batch) => batchName(rollout, batch), width)),
    thresholdOf(rollout),
    ...rollout.why
      .slice(0, WHY_SHOWN)
      .map(({ sentence, severity }) => line(sentence, severity === 'info' ? 'plain' : 'bad')),
    ...(next === null ? [] : [line(`What to do: ${next}`)]),
    ...(trouble === null ? [] : [line(`Not live: ${trouble}`, 'bad')]),
    line(columns(['NODE', 'BATCH', 'STATUS', 'PHASE', 'WHY']), 'dim'),
  ];
  return {
    head,
    count: ordered.length,
    rows: ({ first, height }) => ordered.slice(first, first + height).map((node) => nodeLine(rollout, node, now)),
    foot: [
      line('LAST EVENTS (UTC)', 'dim'),
      ...events
        .slice(-EVENTS_SHOWN)
        .map((event) => line(renderEvent(event), event.severity === 'info' ? 'plain' : 'bad')),
    ],
  };
}

function helpOf({ rollout }: RolloutScreenState): readonly string[] {
  const id = rollout?.id ?? 'ID';
  const controls = rollout?.legal_controls.map(
    (control) => `  hoodctl rollout ${control.replace('_canary', '')} ${id}`,
  );
  return [
    'q, Ctrl-C      leave; the rollout goes on on the server',
    '↑ ↓ k j        one row; PgUp, PgDn, Space: a page; g, G: the first, the last',
    '?              this help',
    '',
    PICTURE_LEGEND,
    '',
    'What can be ordered now, in another terminal:',
    ...(controls ?? []),
  ];
}
