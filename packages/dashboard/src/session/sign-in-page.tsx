import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { Alert, Button, Divider, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiClient } from '../api/api-client.ts';
import { beginSignIn, signInSettings } from './oidc.ts';

/** Leads to the OpenID provider, or asks for an API key and tries it before it is kept. */
export function SignInPage({
  why,
  busy,
  signIn,
}: {
  readonly why: string | null;
  /** Somebody has just come back from the provider. */
  readonly busy: boolean;
  readonly signIn: (key: string) => void;
}) {
  const [key, setKey] = useState('');
  const provider = signInSettings();
  const leave = useMutation({ mutationFn: beginSignIn });
  const trial = useMutation({
    mutationFn: (given: string) =>
      new ApiClient(
        () => given,
        () => undefined,
      ).get(PATHS.identity),
    onSuccess: (_, given) => signIn(given),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    trial.mutate(key.trim());
  };
  const refusal = trial.error?.message ?? leave.error?.message ?? why;
  return (
    <main className="sign-in">
      <Paper className="surface" p="xl" w="100%" maw={420}>
        <form onSubmit={submit}>
          <Stack>
            <Title order={1} size="h3">
              hoodcloud rollout
            </Title>
            <Text c="dimmed" size="sm">
              What you sign in with is kept in this tab only and forgotten when you close it.
            </Text>
            {refusal !== null && (
              <Alert color="red" role="alert" variant="outline">
                {refusal}
              </Alert>
            )}
            {provider !== null && (
              <>
                <Button loading={busy || leave.isPending} onClick={() => leave.mutate(provider)}>
                  Sign in at {new URL(provider.issuer).host}
                </Button>
                <Divider label="or" labelPosition="center" />
              </>
            )}
            <PasswordInput
              label="API key"
              description="hoodctl api-key create NAME prints one"
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              autoComplete="off"
              required
              data-autofocus
            />
            <Button
              type="submit"
              variant={provider === null ? 'filled' : 'default'}
              loading={trial.isPending}
              disabled={key.trim() === ''}
            >
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </main>
  );
}
