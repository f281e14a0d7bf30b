import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { allPages } from '../api/all-pages.ts';
import type { ApiClient } from '../api/api-client.ts';

export interface SeenRollout {
  readonly rollout: RolloutDetail;
  readonly nodes: readonly RolloutNodeView[];
}

/** So many nodes are read whole at each look; of more, only those that move, those in sight and those that events name. */
const SMALL = 500;
/** Every node is read again after this time. */
const WHOLE_EVERY_MS = 60_000;
/** The API reads so many by their ids at once. */
const MOST_IDS = 100;

/** Reads a rollout again and again; a look costs the same whether it has fifty nodes or ten thousand. */
export class RolloutReader {
  readonly #api: ApiClient;
  readonly #id: string;
  #nodes: readonly RolloutNodeView[] = [];
  #wholeAt = Number.NEGATIVE_INFINITY;
  #inSight: readonly string[] = [];
  readonly #stale = new Set<string>();

  constructor(api: ApiClient, id: string) {
    this.#api = api;
    this.#id = id;
  }

  /** Something happened to the node: the next look reads it. */
  changed(nodeId: string): void {
    this.#stale.add(nodeId);
  }

  /** These are on the screen: each look reads them. */
  show(nodeIds: readonly string[]): void {
    this.#inSight = nodeIds;
  }

  /** @throws CliError when the server refuses or is away */
  async look(): Promise<SeenRollout> {
    const rollout = await this.#api.get<RolloutDetail>(PATHS.rollout(this.#id));
    const due = performance.now() - this.#wholeAt > WHOLE_EVERY_MS;
    if (due || rollout.total_nodes <= SMALL || this.#nodes.length === 0) await this.#readWhole();
    else await this.#readSome();
    return { rollout, nodes: this.#nodes };
  }

  async #readWhole(): Promise<void> {
    this.#stale.clear();
    this.#nodes = await allPages<RolloutNodeView>(this.#api, PATHS.rolloutNodes(this.#id));
    this.#wholeAt = performance.now();
  }

  async #readSome(): Promise<void> {
    const moving = this.#nodes.filter(({ status }) => isInFlight(status)).map(({ node_id }) => node_id);
    const wanted = [...new Set([...this.#stale, ...this.#inSight, ...moving])].slice(0, MOST_IDS);
    if (wanted.length === 0) return;
    for (const id of wanted) this.#stale.delete(id);
    const query = { node_id: wanted.join(','), limit: MOST_IDS };
    const { items } = await this.#api.get<Page<RolloutNodeView>>(PATHS.rolloutNodes(this.#id), query);
    const fresh = new Map(items.map((node) => [node.node_id, node]));
    this.#nodes = this.#nodes.map((node) => fresh.get(node.node_id) ?? node);
  }
}
