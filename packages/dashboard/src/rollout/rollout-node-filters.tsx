import { NODE_UPGRADE_STATUSES, type NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import { Group, NumberInput, Select, TextInput } from '@mantine/core';
import type { RolloutNodeFilter } from '../api/queries.ts';

const STATUSES = NODE_UPGRADE_STATUSES.map((status) => ({ value: status, label: status.replaceAll('_', ' ') }));

/** Which nodes of a rollout are listed; the server looks for them. */
export function RolloutNodeFilters({
  filter,
  onChange,
}: {
  readonly filter: RolloutNodeFilter;
  readonly onChange: (filter: RolloutNodeFilter) => void;
}) {
  return (
    <Group component="search" className="filters" gap="sm" mb="md" align="flex-end">
      <TextInput
        label="Name"
        value={filter.name ?? ''}
        onChange={(event) => onChange({ ...filter, name: event.currentTarget.value })}
      />
      <Select
        label="Status"
        placeholder="any"
        data={STATUSES}
        value={filter.status ?? null}
        onChange={(status) => onChange({ ...filter, status: (status ?? undefined) as NodeUpgradeStatus | undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
      />
      <NumberInput
        label="Batch"
        placeholder="any"
        min={0}
        allowDecimal={false}
        value={filter.batch ?? ''}
        onChange={(batch) => onChange({ ...filter, batch: typeof batch === 'number' ? batch : undefined })}
        hideControls
      />
    </Group>
  );
}
