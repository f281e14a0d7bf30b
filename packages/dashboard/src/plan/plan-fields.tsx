import type { ChainView, ManifestView } from '@hoodcloud/contracts/http/chains';
import { ROLLOUT_STRATEGIES } from '@hoodcloud/domain/rollout-strategy-name';
import { Checkbox, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import type { FieldProblems, PlanForm } from './plan-form.ts';

const STRATEGY_WORDS = {
  rolling: 'rolling: batch after batch',
  canary: 'canary: a few first, watched, then batch after batch',
  all_at_once: 'all at once: for a deadline',
} as const;

interface Fields {
  readonly form: PlanForm;
  readonly change: (changed: Partial<PlanForm>) => void;
  readonly problems: FieldProblems;
}

/** Everything that describes a rollout; a problem is read at the field it is about. */
export function PlanFields({
  chains,
  manifests,
  ...fields
}: Fields & { readonly chains: readonly ChainView[]; readonly manifests: readonly ManifestView[] }) {
  return (
    <Stack gap="md">
      <What {...fields} chains={chains} manifests={manifests} />
      <How {...fields} />
      <Overrides {...fields} breaking={isBreaking(fields.form, manifests)} />
    </Stack>
  );
}

function isBreaking({ upgrade }: PlanForm, manifests: readonly ManifestView[]): boolean {
  return manifests.find(({ upgrade_id }) => upgrade_id === upgrade)?.upgrade?.migration_type === 'breaking';
}

function What({
  form,
  change,
  problems,
  chains,
  manifests,
}: Fields & { readonly chains: readonly ChainView[]; readonly manifests: readonly ManifestView[] }) {
  const chosen = manifests.find(({ upgrade_id }) => upgrade_id === form.upgrade)?.upgrade;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <Select
        label="Chain"
        description="One rollout at a time changes a chain"
        placeholder="Choose a chain"
        data={chains.map(({ chain_profile_id, nodes }) => ({
          value: chain_profile_id,
          label: `${chain_profile_id} (${nodes === 1 ? '1 node' : `${nodes} nodes`})`,
        }))}
        value={form.chain}
        onChange={(chain) => change({ chain, upgrade: null })}
        error={problems.chain_profile_id}
        searchable
      />
      <Select
        label="Upgrade"
        description={
          chosen
            ? `${chosen.binary_name} ${chosen.target_version} for nodes of type ${chosen.node_type}, migration ${chosen.migration_type}`
            : 'The manifests of the chain; one that can not be used is greyed out.'
        }
        placeholder={form.chain === null ? 'Choose a chain first' : 'Choose an upgrade'}
        disabled={form.chain === null}
        data={manifests.map(({ upgrade_id, problems: broken }) => ({
          value: upgrade_id,
          label: upgrade_id,
          disabled: broken.length > 0,
        }))}
        value={form.upgrade}
        onChange={(upgrade) => change({ upgrade })}
        error={problems.upgrade_id}
      />
    </SimpleGrid>
  );
}

function How({ form, change, problems }: Fields) {
  const text = (name: keyof PlanForm, label: string, description: string, field: string) => (
    <TextInput
      label={label}
      description={description}
      inputMode="decimal"
      value={String(form[name] ?? '')}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
      error={problems[field]}
    />
  );
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
      <Select
        label="Strategy"
        description="How nodes follow one another"
        data={ROLLOUT_STRATEGIES.map((value) => ({ value, label: STRATEGY_WORDS[value] }))}
        value={form.strategy}
        onChange={(strategy) => strategy !== null && change({ strategy })}
        error={problems.strategy}
        allowDeselect={false}
      />
      {form.strategy === 'canary' && text('canarySize', 'Canaries', 'Nodes of the first batch', 'canary_size')}
      {form.strategy !== 'all_at_once' && text('batchSize', 'Batch size', 'Nodes at a time', 'batch_size')}
      {text('maxInFlight', 'In flight at most', 'Empty: as many as a batch has', 'max_in_flight')}
      {text('threshold', 'Failures borne, %', 'Of the nodes attempted', 'failure_threshold')}
      {text('healthWait', 'Watched for, seconds', "Empty: as the chain's profile says", 'health_wait_ms')}
      <TextInput
        label="Not before"
        description="By your clock; empty: at once"
        type="datetime-local"
        value={form.startAt}
        onChange={(event) => change({ startAt: event.currentTarget.value })}
        error={problems.start_at}
      />
      <Select
        label="Offline nodes"
        description="At their turn"
        data={[
          { value: 'skip', label: 'are skipped' },
          { value: 'wait', label: 'are waited for' },
        ]}
        value={form.offline}
        onChange={(offline) => offline !== null && change({ offline })}
        error={problems.offline_policy}
        allowDeselect={false}
      />
      <Select
        label="Late nodes"
        description="That join or come back while it runs"
        data={[
          { value: 'ignore', label: 'are left out' },
          { value: 'include', label: 'come after all others' },
        ]}
        value={form.late}
        onChange={(late) => late !== null && change({ late })}
        error={problems.late_nodes}
        allowDeselect={false}
      />
      <Select
        label="Configs edited on a host"
        description="Empty: as the manifest says"
        data={[
          { value: 'fail', label: 'fail the upgrade there' },
          { value: 'overwrite', label: 'are overwritten' },
        ]}
        value={form.drift}
        onChange={(drift) => change({ drift })}
        error={problems.drift_policy}
        clearable
        clearButtonProps={{ 'aria-label': 'As the manifest says' }}
      />
    </SimpleGrid>
  );
}

function Overrides({ form, change, problems, breaking }: Fields & { readonly breaking: boolean }) {
  const box = (
    name: 'retryFailed' | 'forceContinue' | 'skipValidation' | 'acknowledgeStateRisk',
    label: string,
    error?: string,
  ) => (
    <Checkbox
      label={label}
      checked={form[name]}
      onChange={(event) => change({ [name]: event.currentTarget.checked })}
      error={error}
    />
  );
  return (
    <Stack gap="xs">
      {(breaking || problems.acknowledge_state_risk !== undefined) &&
        box(
          'acknowledgeStateRisk',
          'The chain’s data may not go back: I have read the recovery plan',
          problems.acknowledge_state_risk,
        )}
      {box('retryFailed', 'Offer the version again to nodes that failed it before')}
      {box('skipValidation', 'Do not wait for a proof of health after an upgrade')}
      {box('forceContinue', 'Go on whatever fails')}
    </Stack>
  );
}
