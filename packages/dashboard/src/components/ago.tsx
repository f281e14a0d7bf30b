import { renderAge } from '@hoodcloud/domain/duration-text';
import { useNow } from './use-now.ts';

/** How long ago something was; the exact time when one points at it. */
export function Ago({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={at}>
      {renderAge(at, now)}
    </time>
  );
}
