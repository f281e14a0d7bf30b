import { readFile } from 'node:fs/promises';
import { STREAM_SUBJECTS } from '@hoodcloud/contracts/events/event-subjects';
import {
  JetStreamApiError,
  type JetStreamClient,
  jetstream,
  jetstreamManager,
  type StreamAPI,
} from '@nats-io/jetstream';
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nanos,
} from '@nats-io/transport-node';
import type { NatsSettings } from '../config.ts';

const CONNECT_MS = 5000;
const STREAM_NOT_FOUND = 10_059;
const SUBJECTS_TAKEN = 10_065;
const DAY_MS = 86_400_000;
/** NATS drops a message whose id it has had within this time: longer than any of our own tries again takes. */
const DUPLICATE_WINDOW_MS = 3_600_000;

/** A connection to NATS and its JetStream, which no longer exists once `lost` settles. */
export interface NatsLink {
  readonly stream: JetStreamClient;
  /** Settles when the connection is gone, with why. */
  readonly lost: Promise<Error | null>;
  close(): Promise<void>;
}

/**
 * Connects and makes sure that the stream is there. An existing stream stays as its operator set it,
 * but for subjects that it lacks. The connection is
 * never made again by itself: a message that waited in it could overtake one that is sent again (in order per rollout).
 * @throws the reason when no server answers, the credentials don't hold, or the stream can't be made
 */
export async function linkToNats(settings: NatsSettings): Promise<NatsLink> {
  const connection = await connect(await connectionOptions(settings));
  try {
    await ensureStream(connection, settings.stream);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    stream: jetstream(connection),
    lost: connection.closed().then((error) => error ?? null),
    close: () => connection.close(),
  };
}

async function connectionOptions(settings: NatsSettings): Promise<ConnectionOptions> {
  const urls = settings.servers.map((server) => new URL(server));
  const [user, pass] = [urls[0]?.username, urls[0]?.password].map((part) => decodeURIComponent(part ?? ''));
  const { credentialsFile, authorityFile } = settings;
  return {
    servers: urls.map((url) => `${url.protocol}//${url.host}`),
    name: 'hoodcloud',
    reconnect: false,
    timeout: CONNECT_MS,
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(user && pass && { user, pass }),
    ...(user && !pass && { token: user }),
    ...(credentialsFile && { authenticator: credsAuthenticator(await readFile(credentialsFile)) }),
    ...(authorityFile && { tls: { caFile: authorityFile } }),
  };
}

async function ensureStream(connection: NatsConnection, name: string): Promise<void> {
  const { streams } = await jetstreamManager(connection, { timeout: CONNECT_MS });
  try {
    const { config } = await streams.info(name);
    const lacking = STREAM_SUBJECTS.filter((subject) => !config.subjects.some((kept) => covers(kept, subject)));
    // a later version has more kinds of events: one that no stream takes would hold up all that follow
    if (lacking.length > 0) await streams.update(name, { subjects: [...config.subjects, ...lacking] });
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NOT_FOUND) throw error;
    await addStream(streams, name);
  }
}

/** Whether what a stream keeps has all of a subject that ends in `>`. */
function covers(kept: string, subject: string): boolean {
  return kept === subject || (kept.endsWith('>') && subject.startsWith(kept.slice(0, -1)));
}

async function addStream(streams: StreamAPI, name: string): Promise<void> {
  try {
    await streams.add({
      name,
      description: 'What happened in hoodcloud rollouts, in order',
      subjects: STREAM_SUBJECTS,
      max_age: nanos(30 * DAY_MS),
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    });
  } catch (cause) {
    if (!(cause instanceof JetStreamApiError) || cause.code !== SUBJECTS_TAKEN) throw cause;
    const advice = 'name it in HOODCLOUD_NATS_STREAM, or take these subjects from it';
    throw new Error(`another stream of this NATS keeps some of ${STREAM_SUBJECTS.join(', ')}: ${advice}`, { cause });
  }
}
