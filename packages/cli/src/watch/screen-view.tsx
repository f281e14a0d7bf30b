import type { EventView } from '@hoodcloud/contracts/http/events';
import type { RolloutNodeLogs } from '@hoodcloud/contracts/http/rollout-views';
import type { Terminal } from '../cli-context.ts';
import type { CommandIo } from '../command-io.ts';
import { openScreen } from '../screen/full-screen.tsx';
import { RolloutScreen, type RolloutScreenState } from '../screen/rollout-screen.tsx';
import { ScreenStore } from '../screen/screen-store.ts';
import type { RolloutReader, SeenRollout } from './rollout-reader.ts';
import { endLines, logLines, type RolloutWatchView, type WatchEnd } from './rollout-views.ts';

/** More events than a screen has lines are kept by the server. */
const EVENTS_KEPT = 50;

/** The full screen of a rollout; when it ends, the terminal has its old lines back, and below them how it ended. */
export class ScreenView implements RolloutWatchView {
  readonly #io: CommandIo;
  readonly #store: ScreenStore<RolloutScreenState>;
  readonly #screen: { close: () => void };
  readonly #logs: RolloutNodeLogs[] = [];

  /** @param leave called when the person leaves */
  constructor(io: CommandIo, terminal: Terminal, reader: RolloutReader, leave: () => void) {
    this.#io = io;
    this.#store = new ScreenStore<RolloutScreenState>({
      rollout: null,
      nodes: [],
      events: [],
      trouble: null,
      now: io.context.now(),
    });
    this.#screen = openScreen(
      terminal,
      <RolloutScreen
        store={this.#store}
        colours={!io.context.env.NO_COLOR}
        onLeave={leave}
        onSight={(nodeIds) => reader.show(nodeIds)}
      />,
    );
  }

  look({ rollout, nodes }: SeenRollout): void {
    this.#store.set({ rollout, nodes, trouble: null, now: this.#io.context.now() });
  }

  event(event: EventView): void {
    this.#store.set({ events: [...this.#store.get().events.slice(1 - EVENTS_KEPT), event] });
  }

  logs(logs: RolloutNodeLogs): void {
    this.#logs.push(logs);
  }

  trouble(text: string): void {
    this.#store.set({ trouble: text, now: this.#io.context.now() });
  }

  end(end: WatchEnd): void {
    this.close();
    for (const logs of this.#logs) this.#io.context.out.write(logLines(logs));
    this.#io.context.out.write(endLines(end));
  }

  /** Gives the terminal back. */
  close(): void {
    this.#screen.close();
  }
}
