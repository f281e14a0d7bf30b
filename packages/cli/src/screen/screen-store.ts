/** What a screen shows, kept outside of it: whoever watches sets it, the screen is told. */
export class ScreenStore<State> {
  #state: State;
  readonly #listeners = new Set<() => void>();

  constructor(state: State) {
    this.#state = state;
  }

  /** @returns how to stop listening */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly get = (): State => this.#state;

  set(differs: Partial<State>): void {
    this.#state = { ...this.#state, ...differs };
    for (const listener of this.#listeners) listener();
  }
}
