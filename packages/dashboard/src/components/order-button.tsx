import type { Scope } from '@hoodcloud/contracts/http/scopes';
import { Button } from '@mantine/core';
import { useLive } from '../live/live.tsx';
import { useMay } from '../session/identity.tsx';
import type { Question } from './ask-reason.tsx';
import { useAsk } from './orders.tsx';

/** Asks why, then orders. It is off while what is shown may be old, and for who may not order it. */
export function OrderButton({
  label,
  ariaLabel,
  question,
  scope = 'operate',
  plain = true,
  small = false,
  barred = false,
}: {
  readonly label: string;
  /** When the label alone does not say what it is about. */
  readonly ariaLabel?: string;
  /** Made when the button is pressed, of what is seen then. */
  readonly question: () => Question;
  readonly scope?: Scope;
  readonly plain?: boolean;
  readonly small?: boolean;
  /** Off for a reason that is told beside it. */
  readonly barred?: boolean;
}) {
  const ask = useAsk();
  const may = useMay(scope);
  const { kind } = useLive();
  return (
    <Button
      size={small ? 'compact-sm' : 'sm'}
      variant={plain ? 'default' : 'filled'}
      disabled={kind !== 'live' || !may || barred}
      title={may ? undefined : `It takes the scope ${scope}.`}
      aria-label={ariaLabel}
      onClick={() => ask(question())}
    >
      {label}
    </Button>
  );
}
