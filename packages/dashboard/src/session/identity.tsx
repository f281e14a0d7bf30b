import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { IdentityView } from '@hoodcloud/contracts/http/identity';
import type { Scope } from '@hoodcloud/contracts/http/scopes';
import { useQuery } from '@tanstack/react-query';
import { useSession } from './session.tsx';

/** Who the API takes this session for; undefined until it has said so. */
export function useIdentity(): IdentityView | undefined {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['identity'],
    queryFn: ({ signal }) => api.get<IdentityView>(PATHS.identity, {}, signal),
    staleTime: 60_000,
  });
  return data;
}

/** Whether the API would take an order of this scope; the API has the last word. */
export function useMay(scope: Scope): boolean {
  return useIdentity()?.scopes.includes(scope) ?? false;
}
