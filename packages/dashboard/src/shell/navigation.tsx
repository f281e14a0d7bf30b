import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';
import { NavLink } from 'react-router';
import { useApprovals, useOpenIncidents } from '../api/queries.ts';
import { PLACES } from './places.ts';

/** The ways to the pages, with how much waits for a person behind two of them. On a phone they are a menu. */
export function Navigation({ open, onGone }: { readonly open: boolean; readonly onGone: () => void }) {
  const waiting = useApprovals().data?.items.filter(({ needs }) => needs !== 'start').length ?? 0;
  const incidents = useOpenIncidents().data;
  const counts: Readonly<Record<string, readonly [shown: string, means: string] | undefined>> = {
    [DASHBOARD_PATHS.approvals]: waiting > 0 ? [String(waiting), 'waiting'] : undefined,
    [DASHBOARD_PATHS.incidents]:
      incidents && incidents.items.length > 0
        ? [`${incidents.items.length}${incidents.next_cursor === null ? '' : '+'}`, 'open']
        : undefined,
  };
  return (
    <nav id="pages" aria-label="Pages" data-open={open}>
      {PLACES.map(({ name, path }) => (
        <NavLink key={path} to={path} onClick={onGone}>
          {name}
          {counts[path] && (
            <span className="count">
              {counts[path][0]}
              <span className="unseen"> {counts[path][1]}</span>
            </span>
          )}
        </NavLink>
      ))}
    </nav>
  );
}
