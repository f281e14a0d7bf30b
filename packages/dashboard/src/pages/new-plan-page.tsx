import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { ManifestView } from '@hoodcloud/contracts/http/chains';
import { DASHBOARD_PATHS, placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { SavedPlanDetail } from '@hoodcloud/contracts/http/rollout-plans';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import { Anchor, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { ApiError } from '../api/api-client.ts';
import { useChains } from '../api/queries.ts';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { useLive } from '../live/live.tsx';
import { PlanFields } from '../plan/plan-fields.tsx';
import {
  EMPTY_FORM,
  type FieldProblems,
  fieldProblems,
  formProblems,
  type PlanForm,
  requestOf,
} from '../plan/plan-form.ts';
import { PlanPanels } from '../plan/plan-panels.tsx';
import { useManifestChoice } from '../plan/plan-queries.ts';
import { Sentences } from '../plan/sentences.tsx';
import { useSession } from '../session/session.tsx';

const NO_MANIFESTS: readonly ManifestView[] = [];

/** Describes a rollout, shows what it would do, and saves that, so that it can be started exactly so. */
export function NewPlanPage() {
  const chains = useChains();
  const [named] = useSearchParams();
  const [form, setForm] = useState<PlanForm>(() => ({
    ...EMPTY_FORM,
    chain: named.get('chain'),
    upgrade: named.get('upgrade'),
  }));
  const manifests = useManifestChoice(form.chain).data?.items ?? NO_MANIFESTS;
  const [typed, setTyped] = useState<FieldProblems>({});
  const { plan, save, planned, forget } = usePlanning();
  const found = problemsOf(plan.error ?? save.error, plan.data);
  const change = (changed: Partial<PlanForm>) => {
    setForm((before) => ({ ...before, ...changed }));
    setTyped({});
    forget();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const problems = formProblems(form);
    setTyped(problems);
    const manifest = manifests.find(({ upgrade_id }) => upgrade_id === form.upgrade);
    if (Object.keys(problems).length === 0 && manifest) plan.mutate(requestOf(form, manifest));
  };
  return (
    <>
      <PageHead title="Plan a rollout">
        <Anchor component={Link} to={DASHBOARD_PATHS.plans}>
          Saved plans
        </Anchor>
      </PageHead>
      <Loaded query={chains} what="the chains">
        {({ items }) => (
          <Panel title="The rollout">
            <form onSubmit={submit} noValidate>
              <PlanFields
                form={form}
                change={change}
                problems={{ ...found.fields, ...typed }}
                chains={items}
                manifests={manifests}
              />
              <Refusal error={plan.error ?? save.error} sentences={found.rest} />
              <Group mt="md">
                <Button type="submit" loading={plan.isPending}>
                  Show the plan
                </Button>
                <Text size="sm" c="dimmed">
                  Nothing is changed by it.
                </Text>
              </Group>
            </form>
          </Panel>
        )}
      </Loaded>
      <div aria-live="polite">
        {plan.data && planned && (
          <Planned plan={plan.data} saving={save.isPending} onSave={() => save.mutate(planned)} />
        )}
      </div>
    </>
  );
}

/** Asks for a plan, and saves what was asked for last. */
function usePlanning() {
  const { api } = useSession();
  const navigate = useNavigate();
  const plan = useMutation<RolloutPlanView, Error, CreateRolloutInput>({
    mutationFn: (request) => api.post(PATHS.rolloutPlan, request),
  });
  const save = useMutation<SavedPlanDetail, Error, CreateRolloutInput>({
    mutationFn: (request) => api.post(PATHS.savedPlans, { request }),
    onSuccess: ({ id }) => navigate(placeOf('plan', id)),
  });
  const forget = () => {
    plan.reset();
    save.reset();
  };
  return { plan, save, planned: plan.variables, forget };
}

function Planned({
  plan,
  saving,
  onSave,
}: {
  readonly plan: RolloutPlanView;
  readonly saving: boolean;
  readonly onSave: () => void;
}) {
  const lost = useLive().kind === 'lost';
  // a chain that is taken now may be free when the plan is started (rule 5)
  const broken = plan.violations.some(({ rule }) => rule !== 5);
  return (
    <>
      <PlanPanels plan={plan} />
      <Group>
        <Button onClick={onSave} loading={saving} disabled={broken || lost}>
          Save the plan
        </Button>
        <Text size="sm" c="dimmed">
          {broken ? 'It breaks a rule: put it right first.' : 'Nothing begins by it; it is started from its own page.'}
        </Text>
      </Group>
    </>
  );
}

/** What the server found, at the fields it is about: of a refusal, or of a plan that breaks rules. */
function problemsOf(error: Error | null, plan: RolloutPlanView | undefined): ReturnType<typeof fieldProblems> {
  if (error instanceof ApiError) return fieldProblems(error.errors);
  return { fields: fieldProblems(plan?.violations ?? []).fields, rest: [] };
}

function Refusal({ error, sentences }: { readonly error: Error | null; readonly sentences: readonly string[] }) {
  if (error === null) return null;
  return (
    <div role="alert" className="plan-refusal">
      <Sentences title="Not done" severity="critical" of={[error.message, ...sentences]} />
    </div>
  );
}
