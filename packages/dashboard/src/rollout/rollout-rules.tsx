import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutOverrides } from '@hoodcloud/contracts/http/policies';
import { agreedText, asideText } from '@hoodcloud/contracts/http/policy-text';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import { Text } from '@mantine/core';
import { useRolloutOverrides } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { OrderButton } from '../components/order-button.tsx';
import { Panel } from '../components/panel.tsx';
import { useIdentity } from '../session/identity.tsx';
import { ASIDE_SECONDS, asideConsequence } from './aside-words.ts';

type Held = RolloutOverrides['holding'][number];
type Aside = RolloutOverrides['items'][number];

/** Which rules hold nodes of a rollout back, and which were set aside for it; nothing where there is neither. */
export function RolloutRules({ rollout }: { readonly rollout: RolloutDetail }) {
  const { data } = useRolloutOverrides(rollout.id);
  if (data === undefined) return null;
  const holding = isEndedRollout(rollout.status) ? [] : data.holding;
  if (holding.length === 0 && data.items.length === 0) return null;
  return (
    <Panel title="Rules">
      <ul className="cards">
        {holding.map((held) => (
          <Holding key={held.rule} held={held} rolloutId={rollout.id} />
        ))}
        {data.items.map((aside) => (
          <SetAside key={aside.id} aside={aside} />
        ))}
      </ul>
    </Panel>
  );
}

function Holding({ held, rolloutId }: { readonly held: Held; readonly rolloutId: string }) {
  const { rule, nodes, agreed, reason } = held;
  const me = useIdentity()?.actor;
  const haveAgreed = me !== undefined && agreed.includes(me);
  const question = () => ({
    title: `Set ${rule} aside for this rollout`,
    consequence: asideConsequence(held),
    button: 'Set aside',
    grave: true,
    path: PATHS.rolloutOverrides(rolloutId),
    body: { rule, expires_in_seconds: ASIDE_SECONDS },
    seen: null, // the API refuses what holds nothing any more
  });
  return (
    <li className="card manifest">
      <strong className="mono">{rule}</strong>
      <div>{reason.sentence}</div>
      <Text size="sm">
        {nodes === 1 ? '1 node waits' : `${nodes} nodes wait`}. To set it aside: {agreedText(held)}.
      </Text>
      {haveAgreed && (
        <Text size="sm" role="note" fw={600}>
          You have agreed; somebody else must, too.
        </Text>
      )}
      <OrderButton
        small
        label="Set aside"
        ariaLabel={`Set aside ${rule}`}
        question={question}
        scope="override"
        barred={haveAgreed}
      />
    </li>
  );
}

function SetAside({ aside }: { readonly aside: Aside }) {
  const { rule, actor, reason, created_at } = aside;
  return (
    <li className="card manifest">
      <strong className="mono">{rule}</strong>
      <div>
        Set aside {asideText(aside)}: {actor}, <Ago at={created_at} />: “{reason}”
      </div>
    </li>
  );
}
