import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { BrowserRouter, Navigate, Route, Routes } from 'react-router';
import { ApiError } from './api/api-client.ts';
import { ASK_AGAIN_MS } from './api/queries.ts';
import { Orders } from './components/orders.tsx';
import { Live } from './live/live.tsx';
import { ApprovalsPage } from './pages/approvals-page.tsx';
import { AuditPage } from './pages/audit-page.tsx';
import { ChainPage } from './pages/chain-page.tsx';
import { ChainsPage } from './pages/chains-page.tsx';
import { FleetPage } from './pages/fleet-page.tsx';
import { GroupPage } from './pages/group-page.tsx';
import { GroupsPage } from './pages/groups-page.tsx';
import { IncidentsPage } from './pages/incidents-page.tsx';
import { NewPlanPage } from './pages/new-plan-page.tsx';
import { NodePage } from './pages/node-page.tsx';
import { PlanPage } from './pages/plan-page.tsx';
import { PlansPage } from './pages/plans-page.tsx';
import { PoliciesPage } from './pages/policies-page.tsx';
import { RolloutPage } from './pages/rollout-page.tsx';
import { RolloutsPage } from './pages/rollouts-page.tsx';
import { SessionGate } from './session/session.tsx';
import { SignInPage } from './session/sign-in-page.tsx';
import { Shell } from './shell/shell.tsx';
import { cssVariables, styleNonce, theme } from './theme.ts';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchInterval: ASK_AGAIN_MS,
      staleTime: 1000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

/** Everything: who is signed in, what is live, and the pages. */
export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queries}>
        <SessionGate signIn={(entry) => <SignInPage {...entry} />}>
          <Live>
            <BrowserRouter>
              <Orders>
                <Shell>
                  <Routes>
                    <Route path={DASHBOARD_PATHS.rollouts} element={<RolloutsPage />} />
                    <Route path={DASHBOARD_PATHS.rollout} element={<RolloutPage />} />
                    <Route path={DASHBOARD_PATHS.plans} element={<PlansPage />} />
                    <Route path={DASHBOARD_PATHS.newPlan} element={<NewPlanPage />} />
                    <Route path={DASHBOARD_PATHS.plan} element={<PlanPage />} />
                    <Route path={DASHBOARD_PATHS.fleet} element={<FleetPage />} />
                    <Route path={DASHBOARD_PATHS.node} element={<NodePage />} />
                    <Route path={DASHBOARD_PATHS.groups} element={<GroupsPage />} />
                    <Route path={DASHBOARD_PATHS.group} element={<GroupPage />} />
                    <Route path={DASHBOARD_PATHS.incidents} element={<IncidentsPage />} />
                    <Route path={DASHBOARD_PATHS.approvals} element={<ApprovalsPage />} />
                    <Route path={DASHBOARD_PATHS.chains} element={<ChainsPage />} />
                    <Route path={DASHBOARD_PATHS.chain} element={<ChainPage />} />
                    <Route path={DASHBOARD_PATHS.policies} element={<PoliciesPage />} />
                    <Route path={DASHBOARD_PATHS.audit} element={<AuditPage />} />
                    <Route path="*" element={<Navigate to={DASHBOARD_PATHS.rollouts} replace />} />
                  </Routes>
                </Shell>
              </Orders>
            </BrowserRouter>
          </Live>
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  );
}
