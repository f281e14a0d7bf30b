import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ManifestView } from '@hoodcloud/contracts/http/chains';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { SavedPlanDetail, SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import { useQuery } from '@tanstack/react-query';
import { TOPICS } from '../api/queries.ts';
import { useSession } from '../session/session.tsx';

/** Manifests of a chain; nothing is asked before one is chosen. */
export function useManifestChoice(chain: string | null) {
  const { api } = useSession();
  return useQuery({
    queryKey: [TOPICS.chains, chain ?? '', 'manifests'],
    queryFn: ({ signal }) => api.get<{ items: ManifestView[] }>(PATHS.chainManifests(chain ?? ''), {}, signal),
    enabled: chain !== null,
  });
}

/** The latest saved plans. */
export function useSavedPlans() {
  const { api } = useSession();
  return useQuery({
    queryKey: [TOPICS.plans],
    queryFn: ({ signal }) => api.get<Page<SavedPlanView>>(PATHS.savedPlans, { limit: 200 }, signal),
  });
}

export function useSavedPlan(id: string) {
  const { api } = useSession();
  return useQuery({
    queryKey: [TOPICS.plans, id],
    queryFn: ({ signal }) => api.get<SavedPlanDetail>(PATHS.savedPlan(id), {}, signal),
  });
}
