import { Paper, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A part of a page with its name. */
export function Panel({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const id = useId();
  return (
    <Paper component="section" className="surface" p="md" mb="md" aria-labelledby={id}>
      <Title order={2} size="h5" mb="sm" id={id}>
        {title}
      </Title>
      {children}
    </Paper>
  );
}
