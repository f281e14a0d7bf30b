import type { FleetSummary } from '@hoodcloud/contracts/http/nodes';
import { UnstyledButton } from '@mantine/core';
import { StatusMark } from '../components/status-mark.tsx';
import type { FleetFilter } from './fleet-filter.ts';

/** How the fleet stands at a glance: states and who is offline, each as the way to those nodes, and where versions differ. */
export function FleetCounts({
  summary,
  filter,
  onFilter,
}: {
  readonly summary: FleetSummary;
  readonly filter: FleetFilter;
  readonly onFilter: (change: Partial<Record<keyof FleetFilter, string>>) => void;
}) {
  const offline = summary.nodes - summary.online;
  return (
    <div className="surface counts">
      <ul aria-label="Nodes by state">
        {summary.states.map(({ state, nodes }) => (
          <li key={state}>
            <UnstyledButton
              className="count-button"
              aria-pressed={filter.state === state}
              onClick={() => onFilter({ state: filter.state === state ? '' : state })}
            >
              <StatusMark status={state} /> <strong>{nodes}</strong>
            </UnstyledButton>
          </li>
        ))}
        <li>
          <UnstyledButton
            className="count-button"
            aria-pressed={filter.offline === 'yes'}
            onClick={() => onFilter({ offline: filter.offline === 'yes' ? '' : 'yes' })}
          >
            <StatusMark status={offline > 0 ? 'down' : 'healthy'} text="offline" /> <strong>{offline}</strong>
          </UnstyledButton>
        </li>
      </ul>
      <Drift summary={summary} />
    </div>
  );
}

/** Chains on which not every node runs the same version of a binary. */
function Drift({ summary: { versions } }: { readonly summary: FleetSummary }) {
  const byBinary = new Map<string, FleetSummary['versions']>();
  for (const one of versions) {
    const name = `${one.chain_profile_id}: ${one.binary_name}`;
    byBinary.set(name, [...(byBinary.get(name) ?? []), one]);
  }
  const drifted = [...byBinary].filter(([, of]) => of.length > 1);
  if (drifted.length === 0) return null;
  return (
    <ul className="drift" aria-label="Version drift">
      {drifted.map(([name, of]) => (
        <li key={name}>
          <strong>{name}</strong> {of.map(({ version, nodes }) => `${nodes} × ${version ?? 'unknown'}`).join(', ')}
        </li>
      ))}
    </ul>
  );
}
