import type { ReasonView } from '@hoodcloud/contracts/http/common';
import { nextStep } from '@hoodcloud/contracts/http/view-text';

const RANK = { info: 0, warning: 1, critical: 2 } as const;

/** Why something is as it is, in the reasons' own sentences. */
export function Why({ title, reasons }: { readonly title: string; readonly reasons: readonly ReasonView[] }) {
  if (reasons.length === 0) return null;
  const worst = reasons.reduce(
    (worst, { severity }) => (RANK[severity] > RANK[worst] ? severity : worst),
    'info' as ReasonView['severity'],
  );
  const next = nextStep(reasons);
  return (
    <div className="why" data-severity={worst}>
      <strong>{title}</strong>
      <ul>
        {reasons.map(({ code, sentence }) => (
          <li key={`${code} ${sentence}`}>{sentence}</li>
        ))}
      </ul>
      {next !== null && <div className="next">What to do: {next}</div>}
    </div>
  );
}
