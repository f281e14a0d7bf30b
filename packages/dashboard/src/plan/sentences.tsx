import type { ReactNode } from 'react';

/** Sentences that matter, together; nothing where there are none. */
export function Sentences({
  title,
  severity,
  of,
  children,
}: {
  readonly title: string;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly of: readonly string[];
  readonly children?: ReactNode;
}) {
  if (of.length === 0) return null;
  return (
    <div className="why" data-severity={severity}>
      <strong>{title}</strong>
      <ul>
        {of.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {children}
    </div>
  );
}
