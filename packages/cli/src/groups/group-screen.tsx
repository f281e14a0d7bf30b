import type { RolloutGroupStatusView } from '@hoodcloud/contracts/http/rollout-groups';
import { nextStep } from '@hoodcloud/contracts/http/view-text';
import { type ReactNode, useSyncExternalStore } from 'react';
import type { Terminal } from '../cli-context.ts';
import type { CommandIo } from '../command-io.ts';
import { openScreen, Screen, type ScreenParts } from '../screen/full-screen.tsx';
import { line } from '../screen/screen-lines.ts';
import { ScreenStore } from '../screen/screen-store.ts';
import { renderComponents } from './group-text.ts';

interface GroupScreenState {
  readonly group: RolloutGroupStatusView | null;
}

const HELP = ['q, Ctrl-C      leave; the group goes on on the server', '?              this help'];

/** Opens the full screen of a group. @param leave called when the person leaves */
export function groupScreen(io: CommandIo, terminal: Terminal, leave: () => void) {
  const store = new ScreenStore<GroupScreenState>({ group: null });
  const colours = !io.context.env.NO_COLOR;
  const { close } = openScreen(terminal, <GroupScreen store={store} colours={colours} onLeave={leave} />);
  return { look: (group: RolloutGroupStatusView) => store.set({ group }), close };
}

interface GroupScreenProps {
  readonly store: ScreenStore<GroupScreenState>;
  readonly colours: boolean;
  readonly onLeave: () => void;
}

/** A group on the whole terminal: where it stands, why it waits, its components. */
function GroupScreen({ store, colours, onLeave }: GroupScreenProps): ReactNode {
  const { group } = useSyncExternalStore(store.subscribe, store.get);
  return <Screen partsOf={() => partsOf(group)} colours={colours} help={HELP} onLeave={onLeave} />;
}

function partsOf(group: RolloutGroupStatusView | null): ScreenParts {
  if (group === null) return { head: [line('Reading the group …')], count: 0, rows: () => [], foot: [] };
  const { id, status, direction, failure_policy: policy, why, components } = group;
  const next = nextStep(why);
  const table = renderComponents(components).trimEnd().split('\n');
  return {
    head: [
      line(`group ${id} · ${status}${direction === 'rollback' ? ' (rollback)' : ''} · ${policy}`, 'strong'),
      ...why.map(({ sentence, severity }) => line(sentence, severity === 'info' ? 'plain' : 'bad')),
      ...(next === null ? [] : [line(`What to do: ${next}`)]),
      line(''),
    ],
    count: table.length,
    rows: ({ first, height }) => table.slice(first, first + height).map((text) => line(text)),
    foot: [],
  };
}
