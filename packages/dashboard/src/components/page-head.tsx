import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** Name of a page, in the page and in the browser's tab, with what belongs beside it. */
export function PageHead({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · hoodcloud rollout`;
  }, [title]);
  return (
    <Group justify="space-between" align="center" mb="md" gap="sm">
      <Title order={1} size="h2">
        {title}
      </Title>
      {children}
    </Group>
  );
}
