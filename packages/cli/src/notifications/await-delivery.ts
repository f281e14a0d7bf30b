import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { NotificationDeliveryView } from '@hoodcloud/contracts/http/notifications';
import type { ApiClient } from '../api/api-client.ts';
import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-code.ts';

const POLL_MS = 500;
/** A receiver has 10 s to answer, and the channel may be in the middle of another message. */
const PATIENCE_MS = 40_000;

/**
 * Waits until a message that was ordered is taken by its receiver.
 * @throws CliError with the receiver's answer when it was not, or when no reconciler sent it in time
 */
export async function awaitDelivery(
  api: ApiClient,
  ordered: NotificationDeliveryView,
  interrupted: AbortSignal,
): Promise<NotificationDeliveryView> {
  const deadline = Date.now() + PATIENCE_MS;
  let delivery = ordered;
  while (delivery.status === 'due') {
    if (Date.now() > deadline) {
      throw new CliError(`Nothing was sent within ${PATIENCE_MS / 1000} s; it stays ordered.`, {
        exitCode: EXIT.timedOut,
        next: 'see that a reconciler runs (its /readyz), then: hoodctl notification list',
      });
    }
    await sleep(POLL_MS, undefined, { signal: interrupted });
    delivery = await api.get<NotificationDeliveryView>(PATHS.notificationDelivery(delivery.id));
  }
  if (delivery.status === 'delivered') return delivery;
  throw new CliError(`${delivery.channel}: ${delivery.last_error ?? 'not delivered'}.`, {
    next: `set the channel right and repeat: hoodctl notification test ${delivery.channel}`,
  });
}
