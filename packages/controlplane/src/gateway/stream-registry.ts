import type { AgentStream, Departure } from './agent-stream.ts';

/** The streams this gateway holds, at most one a node. */
export class StreamRegistry {
  readonly #byNode = new Map<string, AgentStream>();

  get size(): number {
    return this.#byNode.size;
  }

  /**
   * Takes a stream in. Of two that open at once the one that the database knows as the newer stays, whichever is heard of
   * first.
   * @returns the stream that is superseded by this; it may be the given one
   */
  add(stream: AgentStream): AgentStream | null {
    const before = this.#byNode.get(stream.nodeId) ?? null;
    if (before && before.openedAt > stream.openedAt) return stream;
    this.#byNode.set(stream.nodeId, stream);
    return before;
  }

  /** Takes it out, unless another stream of the node has taken its place. */
  remove(stream: AgentStream): void {
    if (this.#byNode.get(stream.nodeId) === stream) this.#byNode.delete(stream.nodeId);
  }

  ofNode(nodeId: string): AgentStream | null {
    return this.#byNode.get(nodeId) ?? null;
  }

  ofSession(nodeId: string, sessionId: string): AgentStream | null {
    const stream = this.#byNode.get(nodeId);
    return stream?.sessionId === sessionId ? stream : null;
  }

  nodeIds(): string[] {
    return [...this.#byNode.keys()];
  }

  sessionIds(): string[] {
    return [...this.#byNode.values()].map((stream) => stream.sessionId);
  }

  /** Sends every stream away. */
  goAwayAll(departure: Departure, reconnectWindowMs: number): void {
    for (const stream of this.#byNode.values()) stream.goAway(departure, reconnectWindowMs);
  }
}
