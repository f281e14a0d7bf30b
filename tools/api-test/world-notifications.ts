import { json } from '@hoodcloud/controlplane/db/json';
import type { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';

/** A channel whose reconciler is away, and a message that it gave up. */
export async function addNotifications(
  { database: { db } }: ApiFixture,
  add: (operation: string, parameters: Readonly<Record<string, string>>) => void,
): Promise<void> {
  const name = 'on-call';
  const filter = json({ events: 'all', chains: null, min_severity: 'info', max_per_minute: 60 });
  await db.insertInto('notification_channels').values({ name, type: 'webhook', filter }).execute();
  const { id } = await db
    .insertInto('notification_deliveries')
    .values({ channel: name, event_seq: 1, status: 'dead', attempts: 5, last_error: 'the hook was not reached' })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const operation of ['testNotificationChannel', 'retryDeadLetters']) add(operation, { name });
  for (const operation of ['getNotificationDelivery', 'retryDeadLetter']) add(operation, { id });
}
