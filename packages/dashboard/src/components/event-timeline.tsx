import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import { happeningText, whyText } from '@hoodcloud/contracts/http/view-text';
import { renderClock } from '@hoodcloud/domain/duration-text';
import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';

/** The newest first: when, whom it is about, what happened, why, and who did it. Times are UTC, as in logs. */
export function EventTimeline({ page }: { readonly page: EventPage }) {
  if (page.items.length === 0) return <Text c="dimmed">Nothing has happened yet.</Text>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <ol className="timeline" tabIndex={0} aria-label="Events, the newest first">
      {page.items.toReversed().map((event) => (
        <Entry key={event.seq} event={event} />
      ))}
    </ol>
  );
}

function Entry({ event }: { readonly event: EventView }) {
  const { node_id: nodeId, node_name: nodeName, severity, actor, occurred_at: at } = event;
  const why = whyText(event);
  return (
    <li data-severity={severity}>
      <time dateTime={at} title={at}>
        {renderClock(at)}
      </time>
      <div>
        {severity !== 'info' && <strong>{severity}: </strong>}
        {nodeId !== null && (
          <Anchor component={Link} to={placeOf('node', nodeId)} inherit underline="always">
            {nodeName ?? nodeId}
          </Anchor>
        )}
        {nodeId !== null && ' '}
        {happeningText(event)}
        {why !== null && <div>{why}</div>}
        <div className="who">{actor}</div>
      </div>
    </li>
  );
}
