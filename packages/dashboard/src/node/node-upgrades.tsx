import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { NodeUpgradeView } from '@hoodcloud/contracts/http/nodes';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { Anchor, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { useNodeUpgrades, useRolloutNodeLogs } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { useMay } from '../session/identity.tsx';

/** The newest twenty rollouts that had the node: which way, how it ended, and the log of a version that failed (A18). */
export function NodeUpgrades({ nodeId }: { readonly nodeId: string }) {
  return (
    <Loaded query={useNodeUpgrades(nodeId)} what="its history">
      {({ items, next_cursor }) =>
        items.length === 0 ? (
          <Text c="dimmed">No rollout has had it yet.</Text>
        ) : (
          <>
            <ul className="cards">
              {items.map((one) => (
                <Upgrade key={one.rollout_id} nodeId={nodeId} one={one} />
              ))}
            </ul>
            {next_cursor !== null && <Text c="dimmed">Older ones: hoodctl node history.</Text>}
          </>
        )
      }
    </Loaded>
  );
}

function Upgrade({ nodeId, one }: { readonly nodeId: string; readonly one: NodeUpgradeView }) {
  const { binary_name, from_version, to_version, direction, duration_ms, downtime_ms } = one;
  return (
    <li className="card manifest">
      <Anchor component={Link} to={placeOf('rollout', one.rollout_id)}>
        {binary_name} {from_version ?? 'unknown'} → {to_version}
        {direction === 'rollback' && ' (rollback)'}
      </Anchor>
      <Facts
        of={[
          ['Ended', <StatusMark key="status" status={one.status} />],
          ['Phase', one.phase],
          ['Why', one.error_message ?? one.reason?.sentence],
          ['Began', one.started_at && <Ago key="began" at={one.started_at} />],
          ['Took', duration_ms !== null && renderDuration(duration_ms)],
          ['Node was down', downtime_ms !== null && renderDuration(downtime_ms)],
          ['Attempts', one.attempts > 1 && one.attempts],
        ]}
      />
      {one.has_log && <FailedLog rolloutId={one.rollout_id} nodeId={nodeId} />}
    </li>
  );
}

/** Asked for only when somebody reads it: logs may hold what not everybody may see, so they take the scope operate. */
function FailedLog({ rolloutId, nodeId }: { readonly rolloutId: string; readonly nodeId: string }) {
  const [open, setOpen] = useState(false);
  const may = useMay('operate');
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-expanded={open}
        disabled={!may}
        title={may ? undefined : 'It takes the scope operate.'}
        onClick={() => setOpen(!open)}
      >
        {open ? 'Hide the log' : 'Log of the failed version'}
      </Button>
      {open && <LogLines rolloutId={rolloutId} nodeId={nodeId} />}
    </>
  );
}

function LogLines({ rolloutId, nodeId }: { readonly rolloutId: string; readonly nodeId: string }) {
  return (
    <Loaded query={useRolloutNodeLogs(rolloutId, nodeId)} what="the log">
      {({ lines }) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <section className="log" tabIndex={0} aria-label="Last lines of the failed version">
          <pre>{lines.join('\n')}</pre>
        </section>
      )}
    </Loaded>
  );
}
