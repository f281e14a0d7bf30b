import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ApprovalView } from '@hoodcloud/contracts/http/approvals';
import type { ChainView, ManifestView } from '@hoodcloud/contracts/http/chains';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import type { IncidentView } from '@hoodcloud/contracts/http/incidents';
import type {
  FleetSummary,
  NodeDetail,
  NodeListQuery,
  NodeUpgradeView,
  NodeView,
} from '@hoodcloud/contracts/http/nodes';
import type { PolicyView, RolloutOverrides } from '@hoodcloud/contracts/http/policies';
import type {
  RolloutGroupDetail,
  RolloutGroupStatusView,
  RolloutGroupView,
} from '@hoodcloud/contracts/http/rollout-groups';
import type {
  RolloutBatchesView,
  RolloutDetail,
  RolloutNodeListQuery,
  RolloutNodeLogs,
  RolloutNodeView,
  RolloutView,
} from '@hoodcloud/contracts/http/rollout-views';
import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { TIMELINE_LENGTH } from '../live/timelines.ts';
import { useSession } from '../session/session.tsx';
import type { Query } from './api-client.ts';

/** What a list of nodes is filtered by, by the server. */
export type NodeFilter = Partial<Omit<NodeListQuery, 'limit' | 'cursor' | 'node_id'>>;

/** What the nodes of a rollout are filtered by, by the server. */
export type RolloutNodeFilter = Partial<Omit<RolloutNodeListQuery, 'limit' | 'cursor' | 'node_id'>>;

const PAGE = 200;
/** Without a stream nothing tells that data got old, so it is asked for again now and then whatever happens. */
export const ASK_AGAIN_MS = 30_000;
/** Longer lists would take a request a page. */
const MOST_PAGES_ASKED_AGAIN = 2;

/** First words of the query keys: what an event makes stale is named by them (`live/stale-queries.ts`). */
export const TOPICS = {
  rollouts: 'rollouts',
  rollout: 'rollout',
  rolloutNodes: 'rollout-nodes',
  batches: 'batches',
  events: 'events',
  nodes: 'nodes',
  node: 'node',
  incidents: 'incidents',
  approvals: 'approvals',
  chains: 'chains',
  plans: 'plans',
  policies: 'policies',
  overrides: 'overrides',
  audit: 'audit',
  groups: 'groups',
  group: 'group',
} as const;

function useOne<Answer>(key: readonly string[], path: string, query: Query = {}) {
  const { api } = useSession();
  return useQuery({ queryKey: [...key, query], queryFn: ({ signal }) => api.get<Answer>(path, query, signal) });
}

/** A list that grows page by page as it is scrolled; its filters are the server's. */
function usePages<Item>(key: readonly string[], path: string, query: Query) {
  const { api } = useSession();
  return useInfiniteQuery({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) => api.get<Page<Item>>(path, { ...query, limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 0) <= MOST_PAGES_ASKED_AGAIN && ASK_AGAIN_MS,
  });
}

export type ListResult<Item> = ReturnType<typeof usePages<Item>>;

/** What has been read of a list. */
export function itemsOf<Item>(data: InfiniteData<Page<Item>, unknown> | undefined): Item[] {
  return data?.pages.flatMap(({ items }) => items) ?? [];
}

export const useRollouts = (query: { status?: string | null; chain_profile_id?: string }) =>
  usePages<RolloutView>([TOPICS.rollouts], PATHS.rollouts, query);
export const useRollout = (id: string) => useOne<RolloutDetail>([TOPICS.rollout, id], PATHS.rollout(id));
export const useNodes = (query: NodeFilter) => usePages<NodeView>([TOPICS.nodes], PATHS.nodes, query);
export const useNode = (id: string) => useOne<NodeDetail>([TOPICS.node, id], PATHS.node(id));
export const useFleetSummary = (chain: string) =>
  useOne<FleetSummary>([TOPICS.nodes, 'summary'], PATHS.fleetSummary, { chain_profile_id: chain });
export const useNodeUpgrades = (id: string) =>
  useOne<Page<NodeUpgradeView>>([TOPICS.node, id, 'upgrades'], PATHS.nodeUpgrades(id), { limit: 20 });
export const useRolloutNodeLogs = (rolloutId: string, nodeId: string) =>
  useOne<RolloutNodeLogs>([TOPICS.node, nodeId, 'logs', rolloutId], PATHS.rolloutNodeLogs(rolloutId, nodeId));
export const useIncidents = (query: { status?: string | null; node_id?: string }) =>
  usePages<IncidentView>([TOPICS.incidents], PATHS.incidents, query);
export const useOpenIncidents = () =>
  useOne<Page<IncidentView>>([TOPICS.incidents, 'open'], PATHS.incidents, { status: 'open', limit: 100 });
export const useApprovals = () => useOne<{ items: ApprovalView[] }>([TOPICS.approvals], PATHS.approvals);
export const useAudit = (query: Query) => usePages<EventView>([TOPICS.audit], PATHS.audit, query);
export const useChains = () => useOne<{ items: ChainView[] }>([TOPICS.chains], PATHS.chains);
export const useChain = (id: string) => useOne<ChainView>([TOPICS.chains, id], PATHS.chain(id));
export const useManifests = (chain: string) =>
  useOne<{ items: ManifestView[] }>([TOPICS.chains, chain, 'manifests'], PATHS.chainManifests(chain));
export const usePolicies = () => usePages<PolicyView>([TOPICS.policies], PATHS.policies, {});
export const useGroups = () => usePages<RolloutGroupView>([TOPICS.groups], PATHS.groups, {});
export const useGroup = (id: string) => useOne<RolloutGroupDetail>([TOPICS.group, id], PATHS.group(id));
export const useGroupStatus = (id: string) =>
  useOne<RolloutGroupStatusView>([TOPICS.group, id, 'status'], PATHS.groupStatus(id));
export const useNewestRolloutEvents = (id: string) =>
  useOne<EventPage>([TOPICS.events, id], PATHS.rolloutEvents(id), { newest: true, limit: TIMELINE_LENGTH });
export const useNewestNodeEvents = (id: string) =>
  useOne<EventPage>([TOPICS.events, id], PATHS.events, { node_id: id, newest: true, limit: TIMELINE_LENGTH });

export const useRolloutOverrides = (id: string) =>
  useOne<RolloutOverrides>([TOPICS.overrides, id], PATHS.rolloutOverrides(id));
export const useRolloutBatches = (id: string) =>
  useOne<RolloutBatchesView>([TOPICS.batches, id], PATHS.rolloutBatches(id));
export const useRolloutNodes = (id: string, filter: RolloutNodeFilter) =>
  usePages<RolloutNodeView>([TOPICS.rolloutNodes, id], PATHS.rolloutNodes(id), filter);

/** A node's row in the newest rollout of its chain; null when that rollout has it not. */
export function useNewestRowOf(node: NodeView) {
  const { api } = useSession();
  return useQuery({
    queryKey: [TOPICS.rolloutNodes, 'newest-of', node.id],
    queryFn: async ({ signal }) => {
      const newest = { chain_profile_id: node.chain_profile_id, limit: 1 };
      const { items } = await api.get<Page<RolloutView>>(PATHS.rollouts, newest, signal);
      const [rollout] = items;
      if (rollout === undefined) return null;
      const rows = await api.get<Page<RolloutNodeView>>(PATHS.rolloutNodes(rollout.id), { node_id: node.id }, signal);
      const [row] = rows.items;
      return row === undefined ? null : { rollout, row };
    },
  });
}
