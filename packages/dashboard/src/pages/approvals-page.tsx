import type { ApprovalView } from '@hoodcloud/contracts/http/approvals';
import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import { Anchor, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { useApprovals, useGroup, useRollout } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Why } from '../components/why.tsx';
import { GroupControls } from '../rollout/group-controls.tsx';
import { RolloutControls } from '../rollout/rollout-controls.tsx';

/** What is asked of a person, as the headline of what waits. */
const NEEDS: Readonly<Record<ApprovalView['needs'], string>> = {
  approve: 'Approve the canaries',
  decide: 'Decide how it goes on',
  start: 'Start it, or cancel it',
};

/** Everything that stands still until a person acts, what waits longest first. */
export function ApprovalsPage() {
  return (
    <>
      <PageHead title="Approvals" />
      <Loaded query={useApprovals()} what="what waits for a person">
        {({ items }) =>
          items.length === 0 ? (
            <Text className="surface" p="lg" c="dimmed">
              Nothing waits for a person.
            </Text>
          ) : (
            <ul className="cards">
              {items.map((one) => (
                <Waiting key={one.subject_id} one={one} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

function Waiting({ one }: { readonly one: ApprovalView }) {
  const { subject_type, subject_id, chain_profile_id, brings, needs, reasons, since, created_by, refusal } = one;
  const place = placeOf(subject_type === 'rollout' ? 'rollout' : 'group', subject_id);
  return (
    <li className="surface card" data-needs={needs}>
      <Title order={2} size="h4">
        {headline(one)}
      </Title>
      <Anchor component={Link} to={place} fw={600}>
        {chain_profile_id}: {brings}
      </Anchor>
      <Why title="Why it waits" reasons={reasons} />
      <Facts
        of={[
          ['Waits since', <Ago key="since" at={since} />],
          ['Created by', created_by],
          ['Who may', whoMay(one)],
        ]}
      />
      {refusal !== null && (
        <Text role="note" fw={600} my="xs">
          {refusal}
        </Text>
      )}
      {subject_type === 'rollout' ? <OfRollout one={one} /> : <OfGroup id={subject_id} />}
    </li>
  );
}

function headline({ needs, reasons }: ApprovalView): string {
  return reasons.some(({ code }) => code === 'start_approval_needed')
    ? 'Approve it before its first node'
    : NEEDS[needs];
}

function whoMay({ needs, two_person_approval: two, created_by: creator }: ApprovalView): string {
  if (needs !== 'approve') return 'who has the scope operate';
  return two ? `a second person: not ${creator}, nor who made its key` : 'who has the scope operate';
}

const WANTED = { approve: 'approve_canary', decide: 'resume', start: 'start' } as const;

function OfRollout({ one: { subject_id: id, needs, refusal } }: { readonly one: ApprovalView }) {
  return (
    <Loaded query={useRollout(id)} what="its controls">
      {(rollout) => <RolloutControls rollout={rollout} refusal={refusal} wanted={WANTED[needs]} />}
    </Loaded>
  );
}

function OfGroup({ id }: { readonly id: string }) {
  return (
    <Loaded query={useGroup(id)} what="its controls">
      {(group) => <GroupControls group={group} />}
    </Loaded>
  );
}
