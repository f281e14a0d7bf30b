import { renderClock } from '@hoodcloud/domain/duration-text';
import { useLive } from './live.tsx';

/** Says that what is shown may be old, from the moment that nothing more is heard. */
export function LiveBanner() {
  const live = useLive();
  if (live.kind !== 'lost') return null;
  return (
    <div role="alert" className="live-banner">
      Not live since {renderClock(new Date(live.since).toISOString())} UTC: the control plane does not answer. What you
      see is from then; it is tried again all the time.
    </div>
  );
}
