import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type {
  NotificationChannelView,
  NotificationDeliveryView,
  ResendAnswer,
} from '@hoodcloud/contracts/http/notifications';
import { renderAge } from '@hoodcloud/domain/duration-text';
import type { Command } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { CliError, UsageError } from '../cli-error.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { renderTable } from '../output/table.ts';
import { awaitDelivery } from './await-delivery.ts';

interface ChannelOption {
  readonly channel?: string;
}

/** `hoodctl notification …` */
export function addNotificationCommands(program: Command, act: Act): void {
  const notification = program.command('notification').description('who is told what, and whether it arrives');
  notification.command('list').description('list channels and how they do').action(act(list));
  notification
    .command('test')
    .argument('<channel>', 'name of the channel')
    .description('send a test message and wait for the answer of its receiver')
    .action(act(test));
  notification
    .command('dead-letters')
    .option('--channel <name>', 'only of this channel')
    .description('list messages that were given up, newest first')
    .action(act<ChannelOption>(deadLetters));
  notification
    .command('retry')
    .argument('[id]', 'the message, or the beginning of its id')
    .option('--channel <name>', 'every dead letter of this channel')
    .description('send dead letters once more')
    .action(act<ChannelOption>(retry));
}

async function list(io: CommandIo): Promise<void> {
  const { items } = await (await io.api()).get<{ items: NotificationChannelView[] }>(PATHS.notificationChannels);
  io.answer(items, (channels) => renderChannels(channels, io.context.now()));
  if (items.length === 0) io.remark('There is none: HOODCLOUD_NOTIFICATIONS_FILE of the reconciler names them.');
}

async function test(io: CommandIo, [name = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const ordered = await api.post<NotificationDeliveryView>(PATHS.notificationChannelControl(name, 'test'));
  const delivery = await awaitDelivery(api, ordered, io.context.interrupted);
  io.answer(delivery, ({ channel }) => `The receiver of ${channel} took the test message.\n`);
}

async function deadLetters(io: CommandIo, _: readonly string[], { channel }: ChannelOption): Promise<void> {
  const items = await dead(io, channel);
  io.answer(items, (letters) => renderLetters(letters, io.context.now()));
  if (items.length === 0) io.remark('There is none.');
}

async function retry(io: CommandIo, [given]: readonly string[], { channel }: ChannelOption): Promise<void> {
  if ((given === undefined) === (channel === undefined)) {
    throw new UsageError('Name one message, or a channel.', { next: 'hoodctl notification dead-letters' });
  }
  const api = await io.api();
  if (channel !== undefined) {
    const answer = await api.post<ResendAnswer>(PATHS.notificationChannelControl(channel, 'retry'));
    io.answer(answer, ({ due }) => `${due} sent once more: hoodctl notification list\n`);
    return;
  }
  const letters = (await dead(io)).filter(({ id }) => id.startsWith(given ?? ''));
  const [letter, second] = letters;
  if (!letter || second) {
    const what = letter ? `More than one dead letter begins with "${given}".` : `There is no dead letter "${given}".`;
    throw new CliError(what, { next: 'hoodctl notification dead-letters' });
  }
  const ordered = await api.post<NotificationDeliveryView>(PATHS.notificationDeliveryRetry(letter.id));
  const delivery = await awaitDelivery(api, ordered, io.context.interrupted);
  io.answer(delivery, ({ channel: name }) => `The receiver of ${name} took it.\n`);
}

async function dead(io: CommandIo, channel?: string): Promise<NotificationDeliveryView[]> {
  return allPages<NotificationDeliveryView>(await io.api(), PATHS.notificationDeliveries, { status: 'dead', channel });
}

function renderChannels(channels: readonly NotificationChannelView[], now: Date): string {
  const rows = channels.map((channel) => [
    channel.name,
    channel.type,
    stateOf(channel, now),
    channel.events === 'all' ? 'all' : String(channel.events.length),
    channel.chains?.join(', ') ?? 'all',
    channel.min_severity,
    String(channel.waiting),
    String(channel.dead_letters),
    renderAge(channel.last_delivered_at, now),
    channel.last_error,
  ]);
  const head = [
    'name',
    'type',
    'state',
    'events',
    'chains',
    'from',
    'waiting',
    'dead letters',
    'last taken',
    'last error',
  ];
  return renderTable(head, rows);
}

function stateOf({ configured, failing_since }: NotificationChannelView, now: Date): string {
  if (!configured) return 'not configured';
  return failing_since ? `failing since ${renderAge(failing_since, now)}` : 'works';
}

function renderLetters(letters: readonly NotificationDeliveryView[], now: Date): string {
  const rows = letters.map((letter) => [
    letter.id,
    letter.channel,
    letter.event_kind ?? 'test',
    letter.rollout_id,
    String(letter.attempts),
    renderAge(letter.ended_at, now),
    letter.last_error,
  ]);
  return renderTable(['id', 'channel', 'what', 'rollout', 'tries', 'given up', 'last error'], rows);
}
