import type { PolicyView } from '@hoodcloud/contracts/http/policies';
import {
  type FreezeState,
  freezeState,
  freezeStateText,
  managedByText,
  policyText,
} from '@hoodcloud/contracts/http/policy-text';
import { Code } from '@mantine/core';
import { itemsOf, usePolicies } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Listed } from '../components/listed.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { useNow } from '../components/use-now.ts';
import type { Column } from '../components/virtual-rows.tsx';

/** How a freeze is marked: as the status whose colour it has. */
const MARKS: Readonly<Record<FreezeState, string>> = {
  stands: 'warning',
  next: 'running',
  later: 'pending',
  over: 'expired',
};

function columnsOf(all: readonly PolicyView[]): readonly Column<PolicyView>[] {
  return [
    {
      name: 'Policy',
      width: '1.4fr',
      wide: true,
      cell: ({ kind, name }) => <span className="mono">{`${kind}/${name}`}</span>,
    },
    {
      name: 'What it says',
      width: '3fr',
      wide: true,
      cell: (policy) => (
        <>
          <div>{policyText(policy)}</div>
          <FreezeMark policy={policy} all={all} />
        </>
      ),
    },
    { name: 'Nodes', width: '0.5fr', cell: ({ covered_nodes }) => String(covered_nodes) },
    { name: 'Managed by', width: '0.9fr', cell: managedByText },
    {
      name: 'Changed',
      width: '1.2fr',
      cell: ({ updated_at, updated_by }) => (
        <>
          <Ago at={updated_at} /> by {updated_by}
        </>
      ),
    },
  ];
}

/** Whether a freeze stands now or next. */
function FreezeMark({ policy, all }: { readonly policy: PolicyView; readonly all: readonly PolicyView[] }) {
  const now = useNow();
  const state = freezeState(policy, all, now);
  if (state === null) return null;
  return <StatusMark status={MARKS[state]} text={freezeStateText(policy, all, now) ?? ''} />;
}

/** The rules over the whole fleet: what they say, whom they cover, who changed them last. */
export function PoliciesPage() {
  const list = usePolicies();
  return (
    <>
      <PageHead title="Policies" />
      <Listed
        list={list}
        what="policies"
        columns={columnsOf(itemsOf(list.data))}
        idOf={({ id }) => id}
        empty={
          <>
            There is none: nothing limits when nodes are changed, or how many at once. Write budgets, windows and
            freezes into a file, then <Code>hoodctl apply -f policies.yaml</Code>.
          </>
        }
      />
    </>
  );
}
