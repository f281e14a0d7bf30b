import { Alert, Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiError, type Seen } from '../api/api-client.ts';
import { useLive } from '../live/live.tsx';
import { useIdentity } from '../session/identity.tsx';
import { useSession } from '../session/session.tsx';

/** HTTP 412: what was decided upon is not what is. */
const CHANGED = 412;

/** What is asked before an order is given; null: nothing is being asked. */
export interface Question {
  readonly title: string;
  readonly consequence: string;
  readonly button: string;
  readonly grave: boolean;
  /** Where the order is sent. */
  readonly path: string;
  /** What the order says beside why. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** What was seen when it was asked; null: whatever it is, the order holds. */
  readonly seen: Seen | null;
}

/** Spells out what will happen, asks why, gives the order; a refusal is read where it was asked. */
export function AskReason({ question, onClose }: { readonly question: Question | null; readonly onClose: () => void }) {
  return (
    // its parts instead of the whole, whose header element would be a second banner of the page; the page's style policy has
    // no place for what locking the scroll would add
    <Modal.Root opened={question !== null} onClose={onClose} centered lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          {question !== null && <Form key={question.title} question={question} onClose={onClose} />}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** A refusal with each thing that is wrong. */
function sentencesOf(error: Error): string {
  const details = error instanceof ApiError ? error.errors.map(({ message }) => message) : [];
  return [error.message, ...details].join(' ');
}

function Form({ question, onClose }: { readonly question: Question; readonly onClose: () => void }) {
  const { api } = useSession();
  const client = useQueryClient();
  const actor = useIdentity()?.actor;
  const live = useLive().kind === 'live';
  const [reason, setReason] = useState('');
  const order = useMutation<unknown, Error, string>({
    mutationFn: (why) => api.post(question.path, { ...question.body, reason: why }, question.seen),
    onSuccess: onClose,
    onSettled: () => void client.invalidateQueries(),
  });
  const changed = order.error instanceof ApiError && order.error.status === CHANGED;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (live && !changed) order.mutate(reason.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Modal.Title fw={700}>{question.title}</Modal.Title>
        <Text>{question.consequence}</Text>
        <Textarea
          label="Why"
          description={`Kept in the history with your name${actor === undefined ? '' : `, ${actor}`}.`}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          required
          maxLength={500}
          data-autofocus
        />
        {order.error !== null && (
          <Alert
            color="red"
            variant="outline"
            role="alert"
            title={changed ? 'Not done: it changed meanwhile' : 'Not done'}
          >
            {sentencesOf(order.error)}
          </Alert>
        )}
        {!live && (
          <Alert color="orange" variant="outline" role="alert" title="Not live">
            What you decided upon may be old. It can be ordered when the control plane is heard again.
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {changed ? 'Look again' : 'Don’t'}
          </Button>
          <Button
            type="submit"
            color={question.grave ? 'red.8' : 'indigo.7'}
            loading={order.isPending}
            disabled={reason.trim() === '' || !live || changed}
          >
            {question.button}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
