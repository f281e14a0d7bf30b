import { Alert, Button, Group, Loader } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

type Asked<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'isPending' | 'refetch'>;

/** What is shown of a question: that it is asked, what went wrong, or the answer. An answer that got old stays, with the error. */
export function Loaded<Data>({
  query,
  what,
  children,
}: {
  readonly query: Asked<Data>;
  /** Of what, in words: `the rollouts`. */
  readonly what: string;
  readonly children: (data: Data) => ReactNode;
}) {
  if (query.isPending) {
    return (
      <Group role="status" gap="sm" p="md">
        <Loader size="sm" aria-hidden />
        Loading {what} …
      </Group>
    );
  }
  const { data, error } = query;
  return (
    <>
      {error !== null && (
        <Alert color="red" variant="outline" role="alert" mb="md" title={`Could not load ${what}`}>
          <Group justify="space-between">
            {error.message}
            <Button size="compact-sm" variant="default" onClick={() => void query.refetch()}>
              Try again
            </Button>
          </Group>
        </Alert>
      )}
      {data !== undefined && children(data)}
    </>
  );
}
